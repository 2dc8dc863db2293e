import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { ConfiguredLane } from '../../src/sync/targets.ts';
import { openCron, type SendRuns } from './cron.ts';
import { atEnd } from './ending.ts';

/**
 * The clock of a simulated world: it runs at a rate, and waits for those who watch the world where he
 * falls back by more than the leash. What comes and goes unobserved is not seen, and
 * could not be held against the truth.
 */
export class WorldClock {
  readonly #rate: number;
  readonly #leashMs: number;
  #isRunning = false;
  #nowMs = 0;
  #seenMs = 0;
  #lastMs = performance.now();

  constructor({ rate, leashMs }: { readonly rate: number; readonly leashMs: number }) {
    this.#rate = rate;
    this.#leashMs = leashMs;
  }

  /** Simulated ms since the start, whole. */
  get nowMs(): number {
    const realMs = performance.now();
    if (this.#isRunning) {
      const wantedMs = this.#nowMs + (realMs - this.#lastMs) * this.#rate;
      this.#nowMs = Math.max(this.#nowMs, Math.min(wantedMs, this.#seenMs + this.#leashMs));
    }
    this.#lastMs = realMs;
    return Math.floor(this.#nowMs);
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Goes on from where it is. */
  run(): void {
    this.#seenMs = this.nowMs;
    this.#isRunning = true;
  }

  /** Stops now. @returns the time at which it does */
  freeze(): number {
    const atMs = this.nowMs;
    this.#isRunning = false;
    return atMs;
  }

  /** All that was to be seen at this time has been seen. */
  see(atMs: number): void {
    this.#seenMs = Math.max(this.#seenMs, atMs);
  }
}

/** Real time between two runs of the lists that grow, and of the ranking, in ms. */
const runMs = 3_000;
const rankingMs = 20_000;
const pollMs = 250;

export interface ChaosCronOptions {
  /** Not through the proxy: a cron that has no database is no cron. */
  readonly database: { readonly url: string; readonly pool: Pool };
  readonly lanes: readonly ConfiguredLane[];
  readonly clock: WorldClock;
}

/** A poll of the head of the operations that is owed. */
interface Poll {
  readonly simulatedMs: number;
  /** Unix time in ms, before which no run counts that was opened. */
  readonly sinceMs: number;
}

/** Sends runs from now on, while the world's clock runs, and reports to the clock what has been seen. */
export async function openChaosCron({ database: { url, pool }, lanes, clock }: ChaosCronOptions) {
  const send: SendRuns = await openCron(url);
  const done = new AbortController();
  const next = { runMs: 0, rankingMs: 0 };
  let poll: Poll | null = null;
  let missed = 0;
  const round = async () => {
    const nowMs = performance.now();
    if (poll !== null && (await hasPolled(pool, poll))) {
      clock.see(poll.simulatedMs);
      poll = null;
    }
    if (!clock.isRunning || nowMs < next.runMs) return;
    const isRanking = nowMs >= next.rankingMs;
    next.runMs = nowMs + runMs;
    if (isRanking) next.rankingMs = nowMs + rankingMs;
    poll ??= { simulatedMs: clock.nowMs, sinceMs: Date.now() };
    await send(lanes.filter(({ lane }) => isRanking || lane.operation !== 'factories'));
  };
  const running = (async () => {
    while (!done.signal.aborted) {
      await round().catch(() => (missed += 1));
      await delay(pollMs, undefined, { signal: done.signal }).catch(() => undefined);
    }
  })();
  /** Ends the runs that come by themselves. */
  const stop = async () => {
    done.abort();
    await running;
  };
  atEnd(stop);
  return {
    /** Runs that could not be sent, as the database was away. */
    missed: () => missed,
    send,
    stop,
  };
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
