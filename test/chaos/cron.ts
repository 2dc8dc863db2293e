import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { ConfiguredLane } from '../../src/feeds/lanes.ts';
import { installQueues, startBoss, tickQueue } from '../../src/jobs/boss.ts';
import { createLog } from '../../src/log.ts';
import type { WorldClock } from './clock.ts';

/** Real time between two ticks of the lists that grow, and of the census, in ms. */
const tickMs = 3_000;
const censusMs = 20_000;
const lookMs = 250;

/** Plays the part of the cron, and tells the world's clock what has been seen. */
export interface Cron {
  /** Ticks that could not be sent, as the database was away. */
  readonly missed: number;
  /** Sends what the cron sends for these lanes. */
  send(lanes: readonly ConfiguredLane[]): Promise<void>;
  /** Ends the ticks that come by themselves. */
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

/** Sends ticks from now on, while the world's clock runs. */
export async function openCron({ databaseUrl, pool, lanes, clock }: CronOptions): Promise<Cron> {
  await installQueues(databaseUrl);
  const log = createLog('silent', () => undefined);
  const boss = await startBoss({
    databaseUrl,
    log,
    supervise: false,
    now: () => performance.now(),
  });
  const done = new AbortController();
  let missed = 0;
  const send = async (wanted: readonly ConfiguredLane[]) => {
    for (const { lane, scope } of wanted) {
      const singletonKey = `${lane.chain_id}.${lane.operation}.${lane.lane}`;
      await boss.send(tickQueue, { lane, scope }, { singletonKey });
    }
  };
  const round = async (next: { tickMs: number; censusMs: number }, look: Look | null) => {
    const nowMs = performance.now();
    if (look !== null && (await hasLooked(pool, look))) {
      clock.see(look.simulatedMs);
      look = null;
    }
    if (!clock.isRunning || nowMs < next.tickMs) return look;
    const isCensus = nowMs >= next.censusMs;
    next.tickMs = nowMs + tickMs;
    if (isCensus) next.censusMs = nowMs + censusMs;
    look ??= { simulatedMs: clock.nowMs, sinceMs: Date.now() };
    await send(lanes.filter(({ lane }) => isCensus || lane.operation !== 'factories'));
    return look;
  };
  const running = (async () => {
    const next = { tickMs: 0, censusMs: 0 };
    let look: Look | null = null;
    while (!done.signal.aborted) {
      try {
        look = await round(next, look);
      } catch {
        missed += 1;
      }
      await delay(lookMs, undefined, { signal: done.signal }).catch(() => undefined);
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

/** A look at the head of the operations that is owed. */
interface Look {
  readonly simulatedMs: number;
  /** Unix time in ms, before which no tick counts that was opened. */
  readonly sinceMs: number;
}

async function hasLooked(pool: Pool, { sinceMs }: Look): Promise<boolean> {
  const { rows } = await pool.query(
    `select from etl.ticks
     where operation = 'user-operations' and lane = 'live' and state = 'finished'
       and opened_at > to_timestamp($1::float8 / 1000)
     limit 1`,
    [sinceMs],
  );
  return rows.length > 0;
}
