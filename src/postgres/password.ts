import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { accountFor, type Account } from './account.ts';
import { EmbeddedPostgresError, unlessMissing } from './failure.ts';
import type { Home } from './home.ts';

/** More than anyone can guess. In base64url they need no escape in a URL or a shell. */
const passwordBytes = 24;

/**
 * Who may connect: whoever has the password. With `trust`, every user of the machine was the server's
 * superuser, who can run programs as its account.
 */
const accessRules = `# Written by explorer-etl: whoever has the password in postgres.password may connect.
host all all 127.0.0.1/32 scram-sha-256
`;

/** A server reads new rules at once; one that is busy starting others may take longer. In ms. */
const reloadTimeoutMs = 30_000;
const reloadPollMs = 20;

/** The home's password; undefined where no server of it asks for one yet. */
export async function readPassword({ passwordFile }: Home): Promise<string | undefined> {
  return (await unlessMissing(readFile(passwordFile, 'utf8')))?.trim();
}

/**
 * A password that is not in force yet, and the file it is in: made once, and found again by whoever
 * comes after a kill. The file gets its name once the server asks for it.
 */
export async function draftPassword(
  home: Home,
  account: Account,
): Promise<{ readonly password: string; readonly file: string }> {
  const file = draftOf(home);
  const begun = (await unlessMissing(readFile(file, 'utf8')))?.trim();
  const password = begun ?? randomBytes(passwordBytes).toString('base64url');
  // Written anew: the account may be another one now.
  await writePrivately(file, `${password}\n`, account);
  return { password, file };
}

/** Writes the rules of who may connect into a data directory. A server reads them when told. */
export async function writeAccess(dataDirectory: string, account: Account): Promise<void> {
  await writePrivately(join(dataDirectory, 'pg_hba.conf'), accessRules, account);
}

/**
 * Makes the server on `port` ask for a password from now on. May be killed anywhere and called again.
 * Connections that are open stay.
 *
 * @throws EmbeddedPostgresError when it asks for a password that nobody knows
 */
export async function closeToOthers(home: Home, port: number): Promise<void> {
  const account = await accountFor(home.dataDirectory);
  const { password, file } = await draftPassword(home, account);
  const client = await connect(port, password);
  if (client === 'refused') throw lostPassword(home);
  try {
    // Whatever this server writes down of statements, it does not write down this one.
    await client.query(`set log_statement = 'none'; set log_min_error_statement = 'panic'`);
    await client.query(`set password_encryption = 'scram-sha-256'`);
    await client.query(`alter role postgres password ${client.escapeLiteral(password)}`);
    await writeAccess(home.dataDirectory, account);
    await client.query('select pg_reload_conf()');
  } finally {
    await client.end();
  }
  await untilClosed(port);
  await rename(file, home.passwordFile);
}

const draftOf = ({ passwordFile }: Home): string => `${passwordFile}.new`;

const lostPassword = ({ directory, dataDirectory, passwordFile }: Home): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    `${passwordFile} is missing, and the Postgres of ${directory} asks for its password: put it back. ` +
      `Where it is lost, stop the server, put "host all all 127.0.0.1/32 trust" into ` +
      `${join(dataDirectory, 'pg_hba.conf')} and start again: that makes a new one`,
  );

/** Told to read its rules, the server does so between two connections: this waits for the first refusal. */
async function untilClosed(port: number): Promise<void> {
  const deadlineMs = performance.now() + reloadTimeoutMs;
  for (;;) {
    const stranger = await connect(port, 'not the password');
    if (stranger === 'refused') return;
    await stranger.end();
    if (performance.now() > deadlineMs) {
      throw new EmbeddedPostgresError(
        `Postgres on port ${port} lets everybody in, ${reloadTimeoutMs / 1000} s after it was told not to`,
      );
    }
    await sleep(reloadPollMs);
  }
}

async function connect(port: number, password: string): Promise<Client | 'refused'> {
  const client = new Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password,
    database: 'postgres',
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    // Class 28: invalid authorization.
    if (error instanceof DatabaseError && error.code?.startsWith('28') === true) return 'refused';
    throw error;
  }
}

/** A file that only the account can read, whole or not at all; follows no link that stands in its place. */
async function writePrivately(path: string, text: string, account: Account): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      if (account.uid !== undefined) await file.chown(account.uid, account.gid);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
