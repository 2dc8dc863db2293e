import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '../db/transaction.ts';

/** Numbers of batches that a tick asked for, and when it was first opened. */
interface Asking {
  readonly feed: string;
  readonly tick_id: number;
  /** In µs since 1970. */
  readonly opened_us: number;
  readonly numbers: string;
}

/** A commit by its walk's tick and its time, in µs since 1970. */
export interface Moment {
  readonly tick_id: number;
  readonly at_us: number;
}

/**
 * What was asked for at each moment of a replay. Where a range of batches begins, its first batch
 * has nobody to meet below: so what is proved depends on it, and it may have grown since.
 */
export class AskedNumbers {
  readonly #inForce = new Map<string, string>();
  #askings: ReadonlyMap<string, readonly Asking[]> = new Map();

  /** Reads all that was ever asked for. */
  async load(source: Pick<Database, 'execute'>): Promise<void> {
    const { rows } = await source.execute<Asking & Record<string, unknown>>(sql`
      select chain_id || '/' || operation as feed, min(id)::float8 as tick_id,
             (extract(epoch from min(opened_at)) * 1000000)::float8 as opened_us,
             int8range(from_batch, to_batch + 1)::text as numbers
      from etl.ticks,
           lateral (
             select (scope ->> 'from_batch')::bigint as from_batch,
                    (scope ->> 'to_batch')::bigint as to_batch
           ) as bounds
      where from_batch is not null and coalesce(to_batch >= from_batch, true)
      group by chain_id, operation, from_batch, to_batch
    `);
    this.#askings = Map.groupBy(rows, ({ feed }) => feed);
  }

  /** Makes a feed of the scratch database know what was asked for at a moment. */
  async restore(tx: Transaction, feed: string, { tick_id, at_us }: Moment): Promise<void> {
    const asked = (this.#askings.get(feed) ?? [])
      .filter((asking) => asking.tick_id <= tick_id || asking.opened_us <= at_us)
      .map(({ numbers }) => numbers)
      .join(',');
    if (this.#inForce.get(feed) === asked) return;
    await tx.execute(
      sql`update etl.feeds set asked = ${`{${asked}}`}::int8multirange where feed = ${feed}`,
    );
    this.#inForce.set(feed, asked);
  }
}
