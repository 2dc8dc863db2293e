import { hash } from 'node:crypto';
import type { Pool } from 'pg';
import { processName, workersPresent } from '../db/presence.ts';
import { z } from 'zod';
import { rowsOf } from '../db/transaction.ts';

/** A key, and what a file says of it. */
export interface LimitedKey {
  readonly apiKey: string;
  readonly requestsPerSecond: number;
  /** Daily limit (UTC); null: none of ours. */
  readonly dailyCredits: number | null;
}

/** Enough digits to separate keys, too few to test guessed keys against. */
const fingerprintDigits = 12;

/** What a process's file says of its keys, by their fingerprint. */
export type KeyLimits = Readonly<
  Record<string, { readonly requests_per_second: number; readonly daily_credits: number | null }>
>;

export const limitsOf = (keys: Iterable<LimitedKey>): KeyLimits =>
  Object.fromEntries(
    [...keys].map(({ apiKey, requestsPerSecond, dailyCredits }) => [
      fingerprintKey(apiKey),
      { requests_per_second: requestsPerSecond, daily_credits: dailyCredits },
    ]),
  );

export const fingerprintKey = (apiKey: string): string =>
  hash('sha256', apiKey).slice(0, fingerprintDigits);

/** The process at work that states a key's limit of a day. */
export async function whoStates(
  pool: Pool,
  apiKey: string,
  dailyCredits: number | null,
): Promise<string> {
  const values = [fingerprintKey(apiKey), dailyCredits];
  const rows = await rowsOf(pool, () => z.object({ name: z.string() }), statedBy, values);
  return rows[0]?.name ?? 'another process';
}

/** $1 fingerprint, $2 credits. */
const statedBy = `
select ${processName} as name from (${workersPresent}) as present
where (limits -> $1 ->> 'daily_credits')::bigint = $2
order by id limit 1`;
