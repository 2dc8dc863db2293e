import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { loadSettings } from '../../../src/config/load.ts';
import { secretsOf } from '../../../src/config/settings.ts';
import { simulated } from '../../harness/explorer.ts';
import { openProgram } from '../sync/program.ts';
import { plainChain } from '../../harness/sync.ts';

/** A proxy that counts what goes through it. */
async function openProxy() {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url);
    const { method, headers } = request;
    const onward = forward(request.url ?? '', { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.on('connect', (request, socket) => {
    seen.push(request.url);
    const { hostname, port } = new URL(`http://${request.url}`);
    const onward = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
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
    const program = await openProgram({ operations, env: { [name]: proxy.url } });

    expect(await program.run('check')).toMatchObject({ code: 0 });
    const checked = proxy.seen.length;
    expect(checked).toBeGreaterThan(0);
    expect(await program.run('sync')).toMatchObject({ code: 0 });
    expect(proxy.seen.length).toBeGreaterThan(checked);
  },
);

test('NO_PROXY leaves the hosts out that it names', async () => {
  const proxy = await openProxy();
  const env = { HTTP_PROXY: proxy.url, NO_PROXY: 'localhost,127.0.0.1' };
  const program = await openProgram({ operations, env });

  expect(await program.run('sync')).toMatchObject({ code: 0 });

  expect(proxy.seen).toEqual([]);
});

test('HTTPS_PROXY carries requests to an address of https', async () => {
  const proxy = await openProxy();
  const simulator = await simulated({ seed: 1, chains: [{ ...plainChain, factories: 5 }] });
  const url = simulator.url.replace('http:', 'https:');
  const program = await openProgram({ operations, url, env: { HTTPS_PROXY: proxy.url } });

  // The service speaks no TLS, and the proxy was reached with its address.
  expect(await program.run('sync')).toMatchObject({ code: 1 });

  expect(proxy.seen[0]).toBe(new URL(url).host);
});

test('a proxy that is no URL is refused without its value, and the password of one is a secret', () => {
  const settings = (HTTPS_PROXY: string) =>
    loadSettings({ cwd: '/', env: { HTTPS_PROXY }, chains: ['10'], operations: [] });
  expect(() => settings('proxy:8080-hidden')).toThrow(/^HTTPS_PROXY: not an http or https URL$/u);
  expect(secretsOf(settings('http://me:swordfish@proxy.example:3128'))).toEqual(['swordfish']);
});
