/**
 * `start` in a process of its own, by a clock of its parent's: the same composition as `cli/start.ts`,
 * but for the time of day, and for how long a silent database is waited for.
 */
import { DatabaseError } from 'pg';
import { openEngine, prepareDatabase } from '../../src/app.ts';
import { loadSettings } from '../../src/config/load.ts';
import { describeDatabaseError, isConnectionLost } from '../../src/db/failure.ts';
import { whileCurrent } from '../../src/db/migrate.ts';
import type { DatabaseTimeouts } from '../../src/db/pool.ts';
import { createLog } from '../../src/log.ts';
import { DatabaseUnavailableError, openDatabase } from '../../src/cli/database.ts';
import { configuredLanes } from '../../src/sync/feeds.ts';
import { serve } from '../../src/sync/serve.ts';

/** What a worker is started with. */
export interface WorkerSettings {
  /** Its time of day, which does not pass: Unix time in ms. Later ones come as messages, and are sent back. */
  readonly instantMs: number;
  readonly dbTimeouts?: DatabaseTimeouts;
}

/** Whether the database ended `start`; anything else shows its stack, as a fault. */
const isOfDatabase = (error: unknown): boolean =>
  error instanceof DatabaseUnavailableError ||
  error instanceof DatabaseError ||
  isConnectionLost(error) ||
  (error instanceof Error && error.cause !== undefined && isOfDatabase(error.cause));

const stop = new AbortController();
process.on('SIGTERM', () => stop.abort(new Error('SIGTERM')));

const given = JSON.parse(process.env['WORKER_SETTINGS'] ?? '') as WorkerSettings;
const { dbTimeouts } = given;
let { instantMs } = given;
process.on('message', (message: number) => {
  instantMs = message;
  process.send?.(message);
});
const clock = () => new Date(instantMs);
const cwd = process.cwd();
const settings = loadSettings({ env: process.env, cwd });
const log = createLog('info', (line) => void process.stderr.write(line));
try {
  await start();
} catch (error) {
  if (!isOfDatabase(error)) throw error;
  process.stderr.write(`explorer-etl: ${describeDatabaseError(error)}\n`);
  process.exitCode = 1;
} finally {
  process.disconnect();
}

async function start(): Promise<void> {
  const database = await openDatabase(settings, { cwd });
  try {
    await prepareDatabase(database);
    const timeouts = dbTimeouts === undefined ? {} : { dbTimeouts };
    const engine = await openEngine({ settings, database, log, ...timeouts });
    try {
      log.write('start.ready', { feeds: 0, chains: 0, next_poll: null });
      await whileCurrent(engine.pool, stop.signal, (signal) =>
        serve(configuredLanes(settings.chains), { ...engine, clock }, signal),
      );
    } finally {
      await engine.close();
    }
  } finally {
    await database.pool.end();
  }
}
