import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeDatabaseError } from '../../../src/db/failure.ts';
import { demandSession } from '../../../src/db/route.ts';
import { databaseAt, sharedDatabase } from '../../harness/database.ts';
import { openTlsProxy, tlsCertificate } from '../../harness/servers.ts';

const database = sharedDatabase();

/** What the driver warns of: it does so once in a process. */
const warnings: string[] = [];
const note = ({ message }: Error) => void warnings.push(message);
beforeAll(() => void process.on('warning', note));
afterAll(() => void process.off('warning', note));

/** Connects as each part of the program does. @returns `connected`, or what it says */
async function connect(url: string, parameters: string): Promise<string> {
  const address = `${url}?${parameters}`;
  try {
    await databaseAt(address).query('select 1');
    await demandSession(address);
    return 'connected';
  } catch (error) {
    return describeDatabaseError(error);
  }
}

const trusting = `sslrootcert=${tlsCertificate}`;

test.each(['sslmode=require', 'sslmode=prefer', 'sslmode=no-verify'])(
  '%s encrypts without verifying the server, as libpq does',
  async (mode) => {
    expect(await connect(await openTlsProxy(database.url), mode)).toBe('connected');
  },
);

test.each(['require', 'verify-ca', 'verify-full'])(
  'sslmode=%s accepts a server of the CA that sslrootcert names',
  async (mode) => {
    const url = await openTlsProxy(database.url);
    expect(await connect(url, `sslmode=${mode}&${trusting}`)).toBe('connected');
  },
);

test.each(['require', 'verify-ca'])(
  'sslmode=%s with sslrootcert accepts another host name',
  async (mode) => {
    const url = await openTlsProxy(database.url, '127.0.0.1');
    expect(await connect(url, `sslmode=${mode}&${trusting}`)).toBe('connected');
  },
);

test.each([
  [
    'an unknown CA',
    'sslmode=verify-full',
    'localhost',
    /^self-signed certificate; .*add sslrootcert=FILE/u,
  ],
  [
    'no public CA',
    'sslrootcert=system',
    'localhost',
    /^self-signed certificate; .*add sslrootcert=FILE/u,
  ],
  [
    'another host',
    `sslmode=verify-full&${trusting}`,
    '127.0.0.1',
    /^Hostname\/IP does not match .*; use such a name as the host/u,
  ],
])('a server of %s is refused with the remedy', async (_, parameters, host, says) => {
  expect(await connect(await openTlsProxy(database.url, host), parameters)).toMatch(says);
});

test('a server without TLS says so, with the remedy', async () => {
  expect(await connect(database.url, 'sslmode=require')).toMatch(
    /does not support SSL connections; sslmode=disable/u,
  );
});

test('a file that the URL names and that is not there is named, with the remedy', async () => {
  expect(await connect(database.url, 'sslmode=verify-full&sslrootcert=absent.pem')).toMatch(
    /no such file.*absent\.pem.*; correct sslrootcert/u,
  );
});

test('no mode makes the driver warn', async () => {
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
    await connect(database.url, `sslmode=${mode}&${trusting}`);
  }
  expect(warnings).toEqual([]);
});
