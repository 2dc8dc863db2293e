import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { loadSettings } from '../../../src/config/load.ts';
import { secretsOf } from '../../../src/config/settings.ts';
import { simulated, testKey } from '../../harness/explorer.ts';
import { issuedCertificate, privateCa } from '../../harness/managed.ts';
import { freshDatabase } from '../../harness/database.ts';
import { freePort } from '../../harness/ports.ts';
import { call, command, configFolder } from '../../harness/process.ts';
import { openProgram } from '../sync/program.ts';
import { plainChain } from '../../harness/sync.ts';

/** A name that only the proxy knows: this machine's own addresses need none. */
const named = 'explorer.test';
const onThisMachine = (url: string) => url.replace(named, '127.0.0.1');

/** The address of a simulated explorer, as the proxy knows it. */
async function explorerBehind(): Promise<string> {
  const simulator = await simulated({ seed: 1, chains: [{ ...plainChain, factories: 5 }] });
  return simulator.url.replace('127.0.0.1', named);
}

/** A company's proxy: it shows programs a certificate of the company's own CA, and reads what they send. */
function intercept(socket: Duplex, onward: Duplex): Duplex {
  const { key, cert } = issuedCertificate;
  const inside = new TLSSocket(socket, {
    isServer: true,
    key: readFileSync(key),
    cert: readFileSync(cert),
  });
  inside.on('error', () => onward.destroy());
  return inside.pipe(onward).pipe(inside);
}

/** A proxy that counts what goes through it. */
async function openProxy(
  forwardBytes = (socket: Duplex, onward: Duplex) => onward.pipe(socket).pipe(onward),
) {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url);
    const { method, headers } = request;
    const onward = forward(onThisMachine(request.url ?? ''), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.on('connect', (request, socket) => {
    seen.push(request.url);
    const { hostname, port } = new URL(`http://${request.url}`);
    const onward = connect(Number(port), onThisMachine(hostname), () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      forwardBytes(socket, onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const operations = { factories: {} };

test.each(['HTTP_PROXY', 'http_proxy'])(
  '%s carries the requests of check and sync',
  async (name) => {
    const proxy = await openProxy();
    const url = await explorerBehind();
    const program = await openProgram({ operations, url, env: { [name]: proxy.url } });

    expect(await program.run('check')).toMatchObject({ code: 0 });
    const checked = proxy.seen.length;
    expect(checked).toBeGreaterThan(0);
    expect(await program.run('sync')).toMatchObject({ code: 0 });
    expect(proxy.seen.length).toBeGreaterThan(checked);
  },
);

test('the proxy carries the request for the directory of init', async () => {
  const proxy = await openProxy();
  const env = { HTTP_PROXY: proxy.url, EXPLORER_BASE_URL: await explorerBehind() };
  const { code, stderr } = await call(['init', '--chain', 'base'], { env });
  // Only the directory of the explorer lacks it.
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(/directory/u) });
});

test('this machine needs no proxy, nor do the hosts that NO_PROXY names', async () => {
  const proxy = await openProxy();
  const own = await openProgram({ operations, env: { HTTP_PROXY: proxy.url } });
  expect(await own.run('sync')).toMatchObject({ code: 0 });

  const env = { HTTP_PROXY: proxy.url, NO_PROXY: named };
  const other = await openProgram({ operations, url: await explorerBehind(), env });
  // Without the proxy the name leads nowhere.
  expect(await other.run('sync')).toMatchObject({ code: 1 });

  expect(proxy.seen).toEqual([]);
});

test('HTTPS_PROXY carries requests to an address of https', async () => {
  const proxy = await openProxy();
  const url = (await explorerBehind()).replace('http:', 'https:');
  const program = await openProgram({ operations, url, env: { HTTPS_PROXY: proxy.url } });

  // The service speaks no TLS, and the proxy was reached with its address.
  expect(await program.run('sync')).toMatchObject({ code: 1 });

  expect(proxy.seen[0]).toBe(new URL(url).host);
});

test('a proxy that does not answer is named beside the explorer', async () => {
  const url = (await explorerBehind()).replace('http:', 'https:');
  const env = { HTTPS_PROXY: `http://127.0.0.1:${await freePort()}` };
  const program = await openProgram({ operations, url, env });
  const { code, stdout } = await program.run('check');
  expect(code).toBe(1);
  expect(stdout.replaceAll(/\s+/gu, ' ')).toContain(
    'connection refused; HTTP_PROXY or HTTPS_PROXY is set',
  );
});

test('the CA of a proxy that reads requests is the one that NODE_EXTRA_CA_CERTS names', async () => {
  const proxy = await openProxy(intercept);
  const url = (await explorerBehind()).replace('http:', 'https:');
  const database = await freshDatabase();
  const cwd = await configFolder({ chains: [{ id: 10, operations }] });
  const sync = (env: Readonly<Record<string, string>>) => {
    const own = { DATABASE_URL: database.url, EXPLORER_BASE_URL: url, EXPLORER_API_KEY: testKey };
    return command(['sync'], { cwd, env: { ...own, HTTPS_PROXY: proxy.url, ...env } });
  };

  const unknown = await sync({});
  expect(unknown).toMatchObject({ code: 1, stdout: expect.stringContaining('certificate') });
  expect(await sync({ NODE_EXTRA_CA_CERTS: privateCa })).toMatchObject({ code: 0 });
});

test('a proxy that is no URL is refused without its value, and the password of one is a secret', () => {
  const settings = (HTTPS_PROXY: string) =>
    loadSettings({ cwd: '/', env: { HTTPS_PROXY }, chains: ['10'], operations: [] });
  expect(() => settings('proxy:8080-hidden')).toThrow(/^HTTPS_PROXY: not an http or https URL$/u);
  expect(secretsOf(settings('http://me:swordfish@proxy.example:3128'))).toEqual(['swordfish']);
});
