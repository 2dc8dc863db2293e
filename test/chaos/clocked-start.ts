/**
 * `start` in a process of its own whose time of day runs faster: the same composition as
 * `cli/start.ts`, but for the clock, and for how long a silent database is waited for.
 */
import { openDatabase, openEngine, prepareDatabase } from '../../src/app.ts';
import { loadSettings } from '../../src/config/load.ts';
import type { Patience } from '../../src/db/patience.ts';
import { whileCurrent } from '../../src/db/version.ts';
import { configuredLanes } from '../../src/feeds/lanes.ts';
import { serve } from '../../src/jobs/serve.ts';
import { createLog } from '../../src/log.ts';

/** A time of day that runs at a rate. */
export interface RunningClock {
  /** Unix time in ms at which both showed the same, and what this one shows then. */
  readonly sinceMs: number;
  readonly instantMs: number;
  readonly rate: number;
}

/** As `workPatience`, but short: a database that swallows what it is told is met once a minute here. */
const patience: Patience = { statementMs: 8_000, answerMs: 10_000, idleTransactionMs: 5_000 };

const stop = new AbortController();
process.on('SIGTERM', () => stop.abort(new Error('SIGTERM')));

const { sinceMs, instantMs, rate } = JSON.parse(process.env['CHAOS_CLOCK'] ?? '') as RunningClock;
const clock = () => new Date(instantMs + (Date.now() - sinceMs) * rate);
const cwd = process.cwd();
const settings = loadSettings({ env: process.env, cwd });
const database = await openDatabase(settings, { cwd });
await prepareDatabase(database);
const log = createLog('info', (line) => void process.stderr.write(line));
const engine = await openEngine({ settings, database, log, supervise: true, patience });
log.info('start.ready');
await whileCurrent(database.pool, stop.signal, (signal) =>
  serve(configuredLanes(settings.chains), { ...engine, clock }, signal),
);
await engine.close();
await database.close();
