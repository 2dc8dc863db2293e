/**
 * `start` in a process of its own, by a clock that its parent drives: the same composition as
 * `cli/start.ts`, but for the time of day, which comes as messages, each of them answered.
 */
import { openEngine, prepareDatabase } from '../../src/app.ts';
import { loadSettings } from '../../src/config/load.ts';
import { createLog } from '../../src/log.ts';
import { openDatabase } from '../../src/open-database.ts';
import { serve } from '../../src/sync/serve.ts';
import { configuredLanes } from '../../src/sync/targets.ts';

/** What the parent sends: the time of day, in ms since 1970. */
export interface TimeMessage {
  readonly instantMs: number;
}

const stop = new AbortController();
let instantMs = Number(process.env['DRIVEN_INSTANT_MS']);
process.on('message', (message: TimeMessage) => {
  ({ instantMs } = message);
  process.send?.(message);
});
process.on('SIGTERM', () => stop.abort(new Error('SIGTERM')));

const cwd = process.cwd();
const settings = loadSettings({ env: process.env, cwd });
const database = await openDatabase(settings, { cwd });
await prepareDatabase(database);
const log = createLog('info', (line) => void process.stderr.write(line));
const engine = await openEngine({ settings, database, log, supervise: true });
const clock = () => new Date(instantMs);
await serve(configuredLanes(settings.chains), { ...engine, clock }, stop.signal);
await engine.close();
await database.close();
process.disconnect();
