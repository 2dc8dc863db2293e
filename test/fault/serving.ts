import { onTestFinished } from 'vitest';
import type { Engine, EngineOptions } from '../../src/app.ts';
import type { Settings } from '../../src/config/settings.ts';
import { createLog } from '../../src/log.ts';
import { openLane } from '../../src/sync/queue.ts';
import { serve } from '../../src/sync/serve.ts';
import { type ConfiguredLane, dueLanes } from '../../src/sync/targets.ts';
import type { UsedDatabase } from '../harness/database.ts';
import { eventually } from '../harness/process.ts';
import { openComposed } from '../harness/sync.ts';

/** A `start` in this process, at work until the running test ends. */
export interface Serving {
  readonly engine: Engine;
  /** All log lines so far. */
  readonly lines: readonly string[];
  /** Why it ended by itself; null while it works. */
  readonly failure: () => string | null;
  /** Rests, pauses and the day that unsupported feeds are left alone for are over. */
  timePasses(): Promise<void>;
  /** Lets a day and an hour pass, in which no batch and no rule rests longer, until all is at rest. */
  passDay(): Promise<void>;
}

/** A poll of many feeds costs the database more than a poll of one, in ms between two. */
const pollMs = 250;
const dayMs = 25 * 3_600_000;

/** Starts to work on lanes. */
export async function serveLanes(
  database: UsedDatabase,
  { settings, lanes, ...options }: ServingOptions,
): Promise<Serving> {
  const { pool } = database;
  const lines: string[] = [];
  const log = createLog('info', (line) => void lines.push(line));
  const composed = await openComposed(database, settings, { log, ...options });
  let passedMs = 0;
  const engine = { ...composed, clock: () => new Date(Date.now() + passedMs) };
  const stop = new AbortController();
  let failure: string | null = null;
  const serving = serve(lanes, engine, stop.signal).catch((error: unknown) => {
    failure = error instanceof Error ? error.message : 'not an error';
  });
  onTestFinished(async () => {
    stop.abort();
    await serving;
    await engine.close();
  });
  const timePasses = async () => {
    await pool.query('update etl.budget set paused_until = now()');
    await pool.query('update etl.feeds set poll_again_at = null');
    await pool.query(
      "update pgboss.job set start_after = now() where name = 'slices' and state = 'created'",
    );
  };
  const isAtRest = async () => {
    await timePasses();
    const { rows } = await pool.query("select from etl.runs where state = 'open' limit 1");
    return rows.length === 0;
  };
  return {
    engine,
    lines,
    failure: () => failure,
    timePasses,
    async passDay() {
      passedMs += dayMs;
      await timePasses();
      for (const { lane, scope } of await dueLanes(engine.db, lanes, 'schedule', engine.clock())) {
        await openLane(engine.db, engine.boss, { lane, scope });
      }
      await eventually('every feed to rest', isAtRest, { everyMs: pollMs });
    },
  };
}

interface ServingOptions extends Pick<EngineOptions, 'supervise' | 'timeouts' | 'dbTimeouts'> {
  readonly settings: Settings;
  readonly lanes: readonly ConfiguredLane[];
}
