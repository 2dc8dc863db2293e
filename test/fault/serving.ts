import { onTestFinished } from 'vitest';
import type { EngineOptions } from '../../src/app.ts';
import type { Settings } from '../../src/config/settings.ts';
import { createLog } from '../../src/log.ts';
import { type ConfiguredLane, dueScope } from '../../src/sync/feeds.ts';
import { openLane } from '../../src/sync/queue.ts';
import { serve } from '../../src/sync/serve.ts';
import type { UsedDatabase } from '../harness/database.ts';
import { eventually } from '../harness/process.ts';
import { openComposed } from '../harness/engines.ts';
import { yearly } from '../harness/world.ts';

/** A poll of many feeds costs the database more than a poll of one, in ms between two. */
const pollMs = 250;
const dayMs = 25 * 3_600_000;

/** A `start` in this process, at work on lanes until the running test ends. */
export async function serveLanes(
  database: UsedDatabase,
  { settings, lanes, ...options }: ServingOptions,
) {
  const lines: string[] = [];
  const log = createLog('info', (line) => void lines.push(line));
  const composed = await openComposed(database, settings, { log, ...options });
  let passedMs = 0;
  const engine = { ...composed, clock: () => new Date(Date.now() + passedMs) };
  const stop = new AbortController();
  const ended: { failure: string | null } = { failure: null };
  const still = lanes.map((lane) => ({ ...lane, cron: yearly }));
  const serving = serve(still, engine, stop.signal).catch((error: unknown) => {
    ended.failure = error instanceof Error ? error.message : 'not an error';
  });
  onTestFinished(async () => {
    stop.abort();
    await serving;
    await engine.close();
  });
  /** Rests, pauses and the day that unsupported feeds are left alone for are over. */
  const timePasses = async () => {
    await database.pool.query('update etl.budget set paused_until = now()');
    await database.pool.query('update etl.feeds set poll_again_at = null');
    await database.pool.query(
      "update pgboss.job set start_after = now() where name = 'slices' and state = 'created'",
    );
  };
  const isAtRest = async () => {
    await timePasses();
    return (
      (await database.pool.query("select from etl.runs where state = 'open' limit 1")).rowCount ===
      0
    );
  };
  return {
    /** All log lines so far. */
    lines,
    /** Why it ended by itself; null while it works. */
    failure: () => ended.failure,
    /** Lets a day and an hour pass, in which no batch and no rule rests longer, until all is at rest. */
    async passDay() {
      passedMs += dayMs;
      await timePasses();
      for (const { lane, scope } of lanes) {
        const due = await dueScope(engine.db, { lane, scope }, 'schedule', engine.clock());
        if (due !== null) await openLane(engine.db, engine.boss, { lane, scope: due });
      }
      await eventually('every feed to rest', isAtRest, { everyMs: pollMs });
    },
  };
}

interface ServingOptions extends Pick<EngineOptions, 'timeouts' | 'dbTimeouts'> {
  readonly settings: Settings;
  readonly lanes: readonly ConfiguredLane[];
}
