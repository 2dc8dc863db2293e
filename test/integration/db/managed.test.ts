import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { databaseAt } from '../../harness/database.ts';
import {
  clientCertificate,
  guarded,
  issuedCertificate,
  managedServer,
  privateCa,
} from '../../harness/managed.ts';
import { call, command, configFolder, emptyFolder } from '../../harness/process.ts';
import { poolerVersion, startPooler, tlsCertificate } from '../../harness/servers.ts';
import { openProgram } from '../sync/program.ts';

const page = await readFile(join(import.meta.dirname, '../../../docs/managed-postgres.md'), 'utf8');
/** A row for each provider of the page: its name, and the parameters of its URL. */
const providers = [...page.matchAll(/^\| (.+?) +\| `(sslmode=.+?)` /gmu)].map(
  ([, name = '', parameters = '']) => ({ name, parameters }),
);

const operations = {
  'user-operations': {},
  'optimism-batch-blocks': { from_batch: 1, to_batch: 3 },
  factories: {},
};

/** What `check` says of a database; in a process of its own where Node reads CAs as it starts. */
async function check(url: string, ca: Readonly<{ NODE_EXTRA_CA_CERTS?: string }> = {}) {
  const cwd = await configFolder({ chains: [{ id: 10, operations: { factories: {} } }] });
  const env = { DATABASE_URL: url, EXPLORER_API_KEY: 'unused', ...ca };
  const run = ca.NODE_EXTRA_CA_CERTS === undefined ? call : command;
  const { code, stdout, stderr } = await run(['check', '--no-requests'], { cwd, env });
  return { code, text: stdout + stderr };
}

/** Files of the page, and those of the tests in their place. */
async function localFiles(): Promise<ReadonlyMap<string, string>> {
  const bundle = join(await emptyFolder(), 'bundle.pem');
  await writeFile(bundle, (await readFile(tlsCertificate)) + (await readFile(privateCa, 'utf8')));
  return new Map([
    ['global-bundle.pem', bundle],
    ['prod-ca-2021.crt', privateCa],
    ['server-ca.pem', privateCa],
    ['ca.crt', privateCa],
    ['client-cert.pem', clientCertificate.cert],
    ['client-key.pem', clientCertificate.key],
  ]);
}

test('the parameters of every provider of the page reach a server that has only TLS', async () => {
  const server = await managedServer();
  const files = await localFiles();
  expect(providers).toHaveLength(7);
  for (const { name, parameters } of providers) {
    const local = parameters.replaceAll(/(?<==)[\w-]+\.\w+/gu, (file) => files.get(file) ?? file);
    const url = server.url(local, parameters.includes('sslcert') ? guarded : undefined);
    // That of Cloud SQL does not have the host's name.
    const reached = parameters.includes('verify-ca') ? url.replace('localhost', '127.0.0.1') : url;
    const env = name === 'Neon' ? { NODE_EXTRA_CA_CERTS: privateCa } : {};
    const { code, text } = await check(reached, env);
    expect({ name, code, text }).toMatchObject({
      code: 0,
      text: expect.stringContaining('ok    database'),
    });
  }
  const { code, text } = await check(server.url(''));
  expect({ code, text }).toMatchObject({
    code: 2,
    text: expect.stringContaining('add sslmode=require'),
  });
});

test('a role that may create roles, and is no superuser, grants those of the program', async () => {
  const server = await managedServer();
  const url = server.url('sslmode=require');
  const migrate = () => call(['migrate', '--roles', '--database-url', url]);
  expect((await migrate()).stderr).toContain('permission denied to create role');
  await server.asSuperuser('alter role etl createrole');
  for (const _ of ['first', 'again'])
    expect(await migrate()).toMatchObject({ code: 0, stderr: '' });
  expect((await check(url)).code).toBe(0);
});

describe.skipIf(poolerVersion() === null)('PgBouncer (skipped where it is not installed)', () => {
  test('in session mode with TLS on both sides is one that commands work through', async () => {
    const server = await managedServer();
    const pooler = await startPooler(server.url(''), {
      pool_mode: 'session',
      default_pool_size: 30,
      server_tls_sslmode: 'require',
      client_tls_sslmode: 'allow',
      client_tls_cert_file: issuedCertificate.cert,
      client_tls_key_file: issuedCertificate.key,
    });
    const through = pooler.through(server.url(`sslmode=verify-ca&sslrootcert=${privateCa}`));
    const { run } = await openProgram({ database: databaseAt(through), operations });
    for (const name of ['migrate', 'check', 'sync']) {
      expect({ name, ...(await run(name)) }).toMatchObject({ name, code: 0 });
    }
  });
});
