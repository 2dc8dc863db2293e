import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '../db/transaction.ts';

/** A change of what is asked for of a feed, and when it came. */
interface Asking {
  readonly feed: string;
  /** The newest run at that time. */
  readonly last_run: number;
  /** In µs since 1970. */
  readonly asked_us: number;
  readonly asked: string;
}

/** A commit by its walk's run and its time, in µs since 1970. */
export interface Moment {
  readonly run_id: number;
  readonly at_us: number;
}

/**
 * What was asked for at each moment of a replay. Where a range of batches begins, its first batch
 * has nobody to meet below: so what is proved depends on it, and it may have changed since.
 */
export class AskedNumbers {
  readonly #inForce = new Map<string, string>();
  #askings: ReadonlyMap<string, readonly Asking[]> = new Map();

  /** Reads all that was ever asked for. */
  async load(source: Pick<Database, 'execute'>): Promise<void> {
    const { rows } = await source.execute<Asking & Record<string, unknown>>(sql`
      select feed, last_run::float8 as last_run,
             (extract(epoch from greatest(asked_at, 'epoch')) * 1000000)::float8 as asked_us,
             asked::text as asked
      from etl.askings
      order by id
    `);
    this.#askings = Map.groupBy(rows, ({ feed }) => feed);
  }

  /** Makes a feed of the scratch database know what was asked for at a moment. */
  async restore(tx: Transaction, feed: string, { run_id, at_us }: Moment): Promise<void> {
    // A run asks before it walks, whatever its database's clock has done meanwhile.
    const asked = (this.#askings.get(feed) ?? []).findLast(
      (asking) => asking.last_run < run_id || asking.asked_us <= at_us,
    )?.asked;
    if (asked === undefined || this.#inForce.get(feed) === asked) return;
    await tx.execute(
      sql`update etl.feeds set asked = ${asked}::int8multirange where feed = ${feed}`,
    );
    this.#inForce.set(feed, asked);
  }
}
