import { createHash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';

/** Hands out the key's request slots to all workers and machines, on the database's clock. */
export interface Budget {
  /**
   * Takes the next free slot and waits for it. Slots are numbered in their order, by one sequence
   * for all workers: of two sights of a row the one with the higher number is the newer, on no
   * one's clock.
   */
  take(signal: AbortSignal): Promise<Slot>;
}

/** The right to make one request. */
export interface Slot {
  readonly page_id: number;
  /** When it was taken, on the database's clock. */
  readonly at: string;
}

/** Names a key without telling it: enough digits to tell keys apart, too few to try keys against. */
const fingerprintDigits = 12;

/** What stands for a key in tables: the first digits of its SHA-256. */
function fingerprintKey(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex').slice(0, fingerprintDigits);
}

export interface BudgetOptions {
  readonly db: Database;
  readonly apiKey: string;
  readonly requestsPerSecond: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * A budget whose slots are reserved one by one in `etl.budget`, evenly spaced. One UPDATE on the
 * database's clock is exact and fair across processes, where a fixed window on the clients' clocks
 * let through 85 of 50.
 */
export async function openBudget(options: BudgetOptions): Promise<Budget> {
  const { db, apiKey, requestsPerSecond, sleep } = options;
  const fingerprint = fingerprintKey(apiKey);
  await db.execute(sql`
    insert into etl.budget as t (key_fingerprint, requests_per_second, next_at)
    values (${fingerprint}, ${requestsPerSecond}, clock_timestamp())
    on conflict (key_fingerprint) do update
    set requests_per_second = excluded.requests_per_second, updated_at = now()
    where t.requests_per_second <> excluded.requests_per_second
  `);
  return {
    async take(signal) {
      // Numbered while the row is locked, so that numbers and slots have the same order; and in one
      // statement, because each round trip here is paid once for every page.
      const { rows } = await db.execute<{ wait_ms: number; page_id: string; at: string }>(sql`
        update etl.budget
        set next_at = greatest(next_at, clock_timestamp())
                      + make_interval(secs => 1 / requests_per_second),
            requests = requests + 1
        where key_fingerprint = ${fingerprint}
        returning 1000 * extract(epoch from
          next_at - make_interval(secs => 1 / requests_per_second) - clock_timestamp()
        )::float8 as wait_ms,
        nextval('etl.pages_id_seq') as page_id,
        clock_timestamp()::text as at
      `);
      const [slot] = rows;
      if (slot === undefined) throw new Error('the budget of the key is gone from etl.budget');
      if (slot.wait_ms > 0) await sleep(slot.wait_ms, signal);
      return { page_id: Number(slot.page_id), at: slot.at };
    },
  };
}
