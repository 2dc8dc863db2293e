import { chmod, copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { accountFor, give } from '../../src/postgres/programs.ts';
import { withClient } from './client.ts';
import { freshDirectory } from './database.ts';
import { ownServer } from './initialized.ts';

const tlsFile = (name: string) => join(import.meta.dirname, 'tls', name);
/** A CA that no system knows. It has issued `issued.pem` for localhost, and `client.pem`. */
export const privateCa = tlsFile('ca.pem');
export const clientCertificate = { cert: tlsFile('client.pem'), key: tlsFile('client.key') };
export const issuedCertificate = { cert: tlsFile('issued.pem'), key: tlsFile('issued.key') };

/** Its database requires a certificate of each client. */
export const guarded = 'guarded';

/**
 * A Postgres as providers run it, until the running test ends: only TLS, by a private CA, and a role that owns a
 * database and has no other right.
 */
export async function managedServer(settings: Readonly<Record<string, string>> = {}) {
  const directory = await freshDirectory();
  const place = (name: string) => join(directory, name);
  const account = await accountFor(place('data'));
  const hba = [
    `hostssl ${guarded} all all scram-sha-256 clientcert=verify-ca`,
    'hostssl all,replication all all scram-sha-256',
  ];
  await writeFile(place('hba.conf'), `${hba.join('\n')}\n`, { mode: 0o644 });
  for (const path of [privateCa, issuedCertificate.cert, issuedCertificate.key]) {
    const copy = place(path.slice(tlsFile('').length));
    await copyFile(path, copy);
    // Postgres refuses a key that others may read.
    await chmod(copy, 0o600);
    await give(copy, account);
  }
  const { url } = await ownServer({
    ssl: 'on',
    ssl_ca_file: place('ca.pem'),
    ssl_cert_file: place('issued.pem'),
    ssl_key_file: place('issued.key'),
    hba_file: place('hba.conf'),
    ...settings,
  });
  const superuser = new URL(url);
  superuser.hostname = 'localhost';
  superuser.searchParams.set('sslmode', 'no-verify');
  const asSuperuser = (statement: string) =>
    withClient(superuser.href, (client) => client.query(statement));
  await asSuperuser(`create role etl login password 'test'`);
  for (const name of ['explorer', guarded]) await asSuperuser(`create database ${name} owner etl`);
  return {
    superuser: superuser.href,
    asSuperuser,
    /** The role's URL of one of the databases. */
    url(parameters: string, database = 'explorer'): string {
      return `postgres://etl:test@${superuser.host}/${database}${parameters && `?${parameters}`}`;
    },
  };
}
