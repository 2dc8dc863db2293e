import { createHash } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { budget } from './tables.ts';

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
  const gap = sql`make_interval(secs => 1 / ${budget.requests_per_second})`;
  // Named, so that it is planned once; numbered while the row is locked, so that numbers and slots
  // have the same order; and in one statement, because each round trip is paid for every page.
  const takeSlot = db
    .update(budget)
    .set({
      next_at: sql`greatest(${budget.next_at}, clock_timestamp()) + ${gap}`,
      requests: sql`${budget.requests} + 1`,
    })
    .where(eq(budget.key_fingerprint, fingerprint))
    .returning({
      wait_ms: sql<number>`1000 * extract(epoch from
        ${budget.next_at} - ${gap} - clock_timestamp())::float8`,
      page_id: sql<string>`nextval('etl.pages_id_seq')`,
      at: sql<string>`clock_timestamp()::text`,
    })
    .prepare('take_slot');
  return {
    async take(signal) {
      const [slot] = await takeSlot.execute();
      if (slot === undefined) throw new Error('the budget of the key is gone from etl.budget');
      if (slot.wait_ms > 0) await sleep(slot.wait_ms, signal);
      return { page_id: Number(slot.page_id), at: slot.at };
    },
  };
}
