import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { createLog } from '../../src/log.ts';
import { installQueues, startBoss } from '../../src/sync/queue.ts';
import { runQueue } from '../../src/sync/workers.ts';
import type { ConfiguredLane } from '../../src/sync/targets.ts';
import type { WorldClock } from './clock.ts';

/** Real time between two runs of the lists that grow, and of the ranking, in ms. */
const runMs = 3_000;
const rankingMs = 20_000;
const pollMs = 250;

/** Plays the part of the cron, and tells the world's clock what has been seen. */
export interface Cron {
  /** Runs that could not be sent, as the database was away. */
  readonly missed: number;
  /** Sends what the cron sends for these lanes. */
  send(lanes: readonly ConfiguredLane[]): Promise<void>;
  /** Ends the runs that come by themselves. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

export interface CronOptions {
  /** Not through the proxy: a cron that has no database is no cron. */
  readonly databaseUrl: string;
  readonly pool: Pool;
  readonly lanes: readonly ConfiguredLane[];
  readonly clock: WorldClock;
}

/** Sends runs from now on, while the world's clock runs. */
export async function openCron({ databaseUrl, pool, lanes, clock }: CronOptions): Promise<Cron> {
  await installQueues(databaseUrl);
  const log = createLog('silent', () => undefined);
  const boss = await startBoss({
    databaseUrl,
    log,
    supervise: false,
  });
  const done = new AbortController();
  let missed = 0;
  const send = async (wanted: readonly ConfiguredLane[]) => {
    for (const { lane, scope } of wanted) {
      const singletonKey = `${lane.chain_id}.${lane.operation}.${lane.lane}`;
      await boss.send(runQueue, { lane, scope }, { singletonKey });
    }
  };
  const round = async (next: { runMs: number; rankingMs: number }, poll: Poll | null) => {
    const nowMs = performance.now();
    if (poll !== null && (await hasPolled(pool, poll))) {
      clock.see(poll.simulatedMs);
      poll = null;
    }
    if (!clock.isRunning || nowMs < next.runMs) return poll;
    const isRanking = nowMs >= next.rankingMs;
    next.runMs = nowMs + runMs;
    if (isRanking) next.rankingMs = nowMs + rankingMs;
    poll ??= { simulatedMs: clock.nowMs, sinceMs: Date.now() };
    await send(lanes.filter(({ lane }) => isRanking || lane.operation !== 'factories'));
    return poll;
  };
  const running = (async () => {
    const next = { runMs: 0, rankingMs: 0 };
    let poll: Poll | null = null;
    while (!done.signal.aborted) {
      try {
        poll = await round(next, poll);
      } catch {
        missed += 1;
      }
      await delay(pollMs, undefined, { signal: done.signal }).catch(() => undefined);
    }
  })();
  return {
    get missed() {
      return missed;
    },
    send,
    async stop() {
      done.abort();
      await running;
    },
    async close() {
      done.abort();
      await running;
      await boss.stop({ graceful: false });
    },
  };
}

/** A poll of the head of the operations that is owed. */
interface Poll {
  readonly simulatedMs: number;
  /** Unix time in ms, before which no run counts that was opened. */
  readonly sinceMs: number;
}

async function hasPolled(pool: Pool, { sinceMs }: Poll): Promise<boolean> {
  const { rows } = await pool.query(
    `select from etl.runs
     where operation = 'user-operations' and lane = 'live' and state = 'finished'
       and opened_at > to_timestamp($1::float8 / 1000)
     limit 1`,
    [sinceMs],
  );
  return rows.length > 0;
}
