import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import type { Range } from '../../../src/status/coverage.ts';
import { recountCoverage } from '../../../src/status/verify.ts';

/** The height of a list's newest item in each scene. */
export const highest = 40;
/** The list that `fillScene` fills. */
export const list = '10/user-operations';

/** What of a list is verified, held up by quarantine, under way, and known of its end. */
export interface Scene {
  readonly verified: readonly Range[];
  readonly held: readonly Range[];
  readonly walked: readonly Range[];
  readonly lowestItem: number | null;
  readonly reachedSince: number | null;
}

/** As Postgres spells a multirange. */
export const multirangeText = (ranges: readonly Range[]) =>
  `{${ranges.map(({ from, to }) => `[${from},${to}]`).join()}}`;

/** Of everything that a ribbon is drawn from. */
export async function emptyScene(pool: Pool): Promise<void> {
  await pool.query(`
    truncate etl.quarantine, etl.walks, etl.runs, etl.coverage, etl.feeds,
      explorer.user_operations, explorer.read_batches, explorer.blocks, etl.edited_batches cascade`);
}

/** One that fails, so that what is missing is not being read. @returns its id */
export async function openRun(pool: Pool, operation: string): Promise<number> {
  const { rows } = await pool.query<{ id: string }>(
    `insert into etl.runs (chain_id, operation, lane, scope, failures_in_a_row)
     values (10, $1, 'backfill', '{}', 1) returning id`,
    [operation],
  );
  return Number(rows[0]?.id);
}

/** Nothing else is there afterwards. */
export async function fillScene(
  pool: Pool,
  { verified, held, walked, lowestItem, reachedSince }: Scene,
): Promise<void> {
  await emptyScene(pool);
  await pool.query(`
    insert into etl.feeds (chain_id, operation, kind, settings)
    values (10, 'user-operations', 'newest-first', '{"since": "2026-01-01T00:00:00Z"}')`);
  const run = await openRun(pool, 'user-operations');
  const ended = { floor: null, state: 'finished', reason: 'floor', scope: { max_pages: 1 } };
  const since = { since: '2026-01-01T00:00:00Z' };
  const walks = [
    { ...ended, top: highest, bottom: 0, verified: multirangeText(verified) },
    ...walked.map(({ from, to }, at) => ({
      scope: { max_pages: at + 2 },
      top: to,
      bottom: to,
      floor: from,
      verified: '{}',
      state: 'running',
      reason: null,
    })),
    ...(reachedSince === null
      ? []
      : [
          {
            ...ended,
            top: highest,
            bottom: reachedSince,
            verified: '{}',
            reason: 'since',
            scope: since,
          },
        ]),
  ];
  await pool.query(
    `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, top, bottom, floor,
       verified, state, reason, from_head)
     select 10, 'user-operations', 'backfill', $2, 'newest-first', scope, top, bottom, floor,
            verified::int8multirange, state, reason, false
     from json_to_recordset($1) as walk(top bigint, bottom bigint, floor bigint, verified text,
       state text, reason text, scope jsonb)`,
    [JSON.stringify(walks), run],
  );
  await recountCoverage(drizzle(pool));
  await pool.query(
    `insert into etl.quarantine (chain_id, operation, page_id, reason, raw, raw_hash, scope, position,
       from_block, to_block)
     select 10, 'user-operations', 1, 'x', '{}', place::text, '{}', place, "from", "to"
     from json_to_recordset($1) as item("from" bigint, "to" bigint, place int)`,
    [JSON.stringify(held.map((one, place) => ({ ...one, place })))],
  );
  if (reachedSince !== null) {
    await pool.query(
      `insert into explorer.user_operations (chain_id, hash, block_number, timestamp, page_id)
       select 10, hash, $1, '2025-12-31Z', 1 from unnest(array['0x2', '0x3']) as hash`,
      [reachedSince],
    );
  }
  if (lowestItem === null) return;
  await pool.query(
    `insert into explorer.user_operations (chain_id, hash, block_number, timestamp, page_id)
     values (10, '0x1', $1, '2026-02-01Z', 1)`,
    [lowestItem],
  );
}
