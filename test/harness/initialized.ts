import { execFile } from 'node:child_process';
import { access, chmod, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { startEmbeddedPostgres } from '../../src/postgres/postgres.ts';
import { withClient } from './client.ts';
import { freshDirectory } from './database.ts';
import { eventually } from './process.ts';

/**
 * A directory with the data of a stopped embedded Postgres, as after `db start` and `db stop`: `initdb` takes
 * longer than most tests of a server. Otherwise as `freshDirectory`.
 */
export async function initializedDirectory(): Promise<string> {
  const directory = await freshDirectory();
  // Owners and modes are the server's.
  await promisify(execFile)('cp', ['-a', join(await initialized(), 'data'), directory]);
  return directory;
}

/** Made by the first test of the run that needs it. */
async function initialized(): Promise<string> {
  const kept = inject('initialized');
  const isMade = await access(kept).then(
    () => true,
    () => false,
  );
  if (isMade) return kept;
  const directory = await mkdtemp(inject('directoryPrefix'));
  // As root, the server's account enters it; else the data would be elsewhere.
  await chmod(directory, 0o755);
  const { dataDirectory, stop } = await startEmbeddedPostgres({
    directory,
    settings: { fsync: 'off' },
  });
  await stop();
  // With it, every copy would try the same port.
  await rm(join(dataDirectory, 'postmaster.opts'));
  // Another worker may have been faster.
  await rename(directory, kept).catch(() => rm(directory, { recursive: true }));
  return kept;
}

/** A Postgres of its own, for what would disturb other tests. It is stopped with the test. */
export async function ownServer(settings: Readonly<Record<string, string>>) {
  const directory = await initializedDirectory();
  const options = { directory, settings: { fsync: 'off', ...settings } };
  let server = await startEmbeddedPostgres(options);
  return {
    url: server.url,
    /** Kills it in whatever it does, starts it again, and returns its URL. */
    async crash(): Promise<string> {
      process.kill(server.pid, 'SIGKILL');
      await untilRefused(server.url);
      server = await startEmbeddedPostgres(options);
      return server.url;
    },
  };
}

/** Waits for the end of a server that was killed. */
export const untilRefused = (url: string): Promise<boolean> =>
  eventually('the killed server to be gone', () =>
    withClient(url, async () => false).catch(
      (error: unknown) =>
        error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED',
    ),
  );
