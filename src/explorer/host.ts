import type { Pool } from 'pg';
import { failures } from '../failure.ts';
import { type HostChanged, signals } from '../signals.ts';
import { ExplorerError, KeyPausedError } from './error.ts';
import type { createFetcher } from './fetcher.ts';
import { z } from 'zod';
import { rowsOf } from '../db/transaction.ts';

type Fetch = ReturnType<typeof createFetcher>;

/** What kept a request from being answered. */
export interface Trouble {
  /** Attempts that failed. */
  readonly failed: number;
  /** The first of them, or why the explorer fails. */
  readonly reason: string;
  readonly waitedMs: number;
}

export interface HostOptions {
  readonly pool: Pool;
  /** Scheme, host and path of the explorer. */
  readonly origin: string;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Monotonic, in ms. */
  readonly now: () => number;
  readonly onTrouble: (request: Parameters<Fetch>[0], trouble: Trouble) => Promise<void>;
  /** Names the engine in its signals (`signals.ts`). */
  readonly by: object;
}

/** In ms: how long a process goes on without a look at what others found. */
const trustedMs = 5_000;
/** In ms: how often a waiting process looks whether another one was answered. */
const longestSleepMs = 1_000;

/**
 * The explorer as one thing. While it fails, one request at a time tests it for all feeds and processes, at intervals
 * that grow with the outage; the others wait.
 *
 * It fails if no connection can be made, or if requests of two feeds fail and none is answered meanwhile. A feed that
 * fails while another one is answered fails alone, until it is answered.
 */
export class Host {
  readonly #options: HostOptions;
  /** Feeds that fail, and when the first such request left: those of before the last answer fail alone. */
  readonly #failing = new Map<string, number>();
  #isFailing = false;
  #answeredMs = -Infinity;
  #lookedMs = -Infinity;
  #looking: Promise<Look | null> | null = null;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  /** The fetch, which outlasts a failure of the explorer or only notes it. */
  through(fetch: Fetch, mode: 'outlast' | 'give-up'): Fetch {
    const { now, onTrouble } = this.#options;
    return async (request, signal) => {
      const feed = `${request.chainId}/${request.operation}`;
      for (;;) {
        const beganMs = now();
        const { isProbe, reason } = mode === 'outlast' ? await this.#pass(signal) : noWait;
        const sentMs = now();
        const errors: ExplorerError[] = [];
        const onFailure = (error: ExplorerError) => void errors.push(error);
        try {
          const page = await fetch({ ...request, isProbe, onFailure }, signal);
          await this.#noteAnswer(feed);
          return page;
        } catch (error) {
          // What pauses the key was an answer.
          const last = error instanceof KeyPausedError ? errors.at(-1) : error;
          if (!(last instanceof ExplorerError)) throw error;
          const isOfHost = await this.#noteFailure(feed, last, sentMs);
          if (last !== error || !isOfHost || mode === 'give-up') throw error;
        } finally {
          const [met] = errors;
          const first = reason ?? met?.text;
          const waitedMs = Math.round(now() - beganMs);
          if (first !== undefined) {
            await onTrouble(request, { failed: errors.length, reason: first, waitedMs });
          }
        }
      }
    };
  }

  /** Waits while the explorer fails. @returns whether the request tests it, and the reason of a wait */
  async #pass(signal: AbortSignal): Promise<typeof noWait> {
    const { now, sleep } = this.#options;
    let reason: string | null = null;
    while (this.#isFailing || now() - this.#lookedMs > trustedMs) {
      const found = await (this.#looking ??= this.#look().finally(() => (this.#looking = null)));
      if (found === null) break;
      reason = found.reason;
      // One of the requests that share this look.
      const isProbe = found.is_probe;
      found.is_probe = false;
      if (isProbe) return { isProbe, reason };
      await sleep(Math.min(Math.max(found.wait_ms, 1), longestSleepMs), signal);
    }
    return { isProbe: false, reason };
  }

  async #look(): Promise<Look | null> {
    const rows = await rowsOf(this.#options.pool, lookShape, lookAtHost, [this.#options.origin]);
    const [found = null] = rows;
    this.#lookedMs = this.#options.now();
    // Another process was answered: what fails here fails alone.
    if (found === null && this.#isFailing) this.#answeredMs = this.#lookedMs;
    this.#change(found && { failure: found.failure, problem: found.reason });
    return found;
  }

  #change(failing: HostChanged['failing']): void {
    if (this.#isFailing === (failing !== null)) return;
    this.#isFailing = failing !== null;
    const { by, origin } = this.#options;
    signals.emit('host', { by, origin, failing });
  }

  async #noteAnswer(feed: string): Promise<void> {
    this.#answeredMs = this.#options.now();
    this.#failing.delete(feed);
    // A process that has ended since may have noted a failure.
    if (!this.#isFailing && this.#answeredMs - this.#lookedMs < trustedMs) return;
    const { pool, origin } = this.#options;
    await pool.query('delete from etl.hosts where origin = $1', [origin]);
    this.#lookedMs = this.#answeredMs;
    this.#change(null);
  }

  /** @returns whether the explorer fails, not the feed alone */
  async #noteFailure(feed: string, error: ExplorerError, sentMs: number): Promise<boolean> {
    const { failure, isSent, text: problem } = error;
    if (failures[failure].isOfHost !== true) {
      await this.#noteAnswer(feed);
      return false;
    }
    // Without a connection it is no fact about a list.
    if (isSent) {
      const first = this.#failing.get(feed) ?? sentMs;
      if (first < this.#answeredMs) return false;
      this.#failing.set(feed, first);
    }
    const all = [...this.#failing.values()];
    const alone = all.filter((first) => first < this.#answeredMs).length;
    const { pool, origin } = this.#options;
    const values = [origin, failure, problem, isSent ? all.length - alone : null, alone];
    const { rows } = await pool.query(failHost, values);
    if (rows.length === 0) return false;
    this.#change({ failure, problem });
    return true;
  }
}

const noWait: { readonly isProbe: boolean; readonly reason: string | null } = {
  isProbe: false,
  reason: null,
};

const lookShape = () =>
  z.object({
    /** Whether the process may send a request now. */
    is_probe: z.boolean(),
    failure: z.string(),
    reason: z.string(),
    wait_ms: z.number(),
  });
type Look = z.infer<ReturnType<typeof lookShape>>;

/**
 * Looks how the explorer does, and takes the next test if it is due: $1 origin. No row: it answers. The process that
 * takes it moves the time of the next one first, so that one that dies delays no other.
 *
 * That is an eighth of the outage, half a second to 8 s, so that all go on within 10 s; after an hour up to a minute,
 * which leaves credits for the day.
 */
const lookAtHost = `
with probe as (
  update etl.hosts set next_try_at = clock_timestamp() + make_interval(secs => least(60, greatest(
    0.5, least(8, age / 8), age / 450
  )))
  from (
    select extract(epoch from clock_timestamp() - failing_since)::float8 as age
    from etl.hosts where origin = $1
  ) as outage
  where origin = $1 and next_try_at <= clock_timestamp()
  returning origin
)
select failure, reason, exists (select from probe) as is_probe,
       1000 * extract(epoch from next_try_at - clock_timestamp())::float8 as wait_ms
from etl.hosts where origin = $1`;

/**
 * Notes that the explorer fails: $1 origin, $2 class, $3 reason, $4 how many feeds fail (null: no connection can be
 * made), $5 how many others fail alone. No row: a feed that was not requested yet may be served, or all were forgotten.
 */
const failHost = `
insert into etl.hosts (origin, failing_since, failure, reason, next_try_at)
select $1, clock_timestamp(), $2, $3, clock_timestamp() + interval '0.5 seconds'
from (select count(*) from etl.feeds where origin = $1) as feeds (known)
where known > 0 and ($4::int is null or $4 >= least(2, known - $5::int))
on conflict (origin) do update set failure = excluded.failure, reason = excluded.reason
returning origin`;
