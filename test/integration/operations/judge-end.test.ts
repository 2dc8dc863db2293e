import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, test } from 'vitest';
import type { EndClaim } from '../../../src/lists/operation.ts';
import { kindOf } from '../../../src/lists/index.ts';
import { freshDatabase } from '../../harness/database.ts';

const chain_id = 10;
const hashOf = (height: number) => `0x${height.toString(16).padStart(64, '0')}`;

/** Batch 4 is about to end; `stored` are batches with the heights of their blocks. */
async function world(
  stored: readonly { batch: number; from: number; to: number; verified?: true }[],
) {
  const { pool } = await freshDatabase();
  for (const { batch, from, to, verified = false } of stored) {
    await pool.query(
      `insert into explorer.blocks (chain_id, height, hash, parent_hash, optimism_batch_number, page_id)
       select $1, height, '0x' || lpad(to_hex(height), 64, '0'), '0x' || lpad(to_hex(height - 1), 64, '0'), $2, 1
       from generate_series($3::bigint, $4::bigint) as height`,
      [chain_id, batch, from, to],
    );
    await pool.query(
      `insert into explorer.read_batches
         (chain_id, batch_number, state, blocks_count, first_height, last_height, is_verified, walked_at, page_id)
       values ($1, $2, 'open', $3, $4, $5, $6, now(), 1)`,
      [chain_id, batch, to - from + 1, from, to, verified],
    );
  }
  await pool.query(`
    insert into etl.feeds (chain_id, operation, kind, settings)
    values (${chain_id}, 'optimism-batch-blocks', 'numbered', '{}');
    select etl.recount_batches('%')`);
  /** The verdict on a list of batch 4 whose last page holds these heights. */
  return (heights: readonly number[], cursor: EndClaim['cursor'] = null) =>
    kindOf('optimism-batch-blocks').judgeEnd(drizzle(pool), {
      walk_id: 1,
      run_id: 1,
      chain_id,
      feed: `${chain_id}/optimism-batch-blocks`,
      scope: { batch: 4 },
      last: null,
      cursor,
      pageSize: 50,
      quarantined: 0,
      rows: heights.map((height, position) => ({
        key: String(height),
        row: { height, hash: hashOf(height), parent_hash: hashOf(height - 1) },
        children: [],
        addresses: [],
        missing: { columns: [], children: [] },
        position,
        height,
      })),
    });
}

const below = { from: 100, to: 109 };
const own = { batch: 4, from: 110, to: 119 };

test.each<[string, Parameters<typeof world>[0], readonly number[], string, EndClaim['cursor']?]>([
  ['on a block of a lower batch', [{ batch: 3, ...below }], [112, 111, 110], 'supported'],
  ['that does not meet the batch below', [{ batch: 3, ...below }], [112], 'supported'],
  ['of no block above an unread batch', [{ batch: 2, ...below }], [], 'supported'],
  ['above stored blocks of its batch', [own], [119, 118], 'unsupported'],
  ['of no block where some are stored', [own], [], 'unsupported'],
  ['on the lowest stored block', [own], [111, 110], 'supported'],
  [
    'of no block behind a cursor',
    [{ batch: 2, ...below }],
    [],
    'unsupported',
    { block_number: 120 },
  ],
])('an end %s', async (_where, stored, heights, is, cursor = null) => {
  const judge = await world(stored);
  expect(await judge(heights, cursor)).toEqual({ is });
});

test('an end above blocks that are verified is contradicted, with the evidence', async () => {
  const judge = await world([{ ...own, verified: true }]);
  expect(await judge([119, 118])).toMatchObject({
    is: 'contradicted',
    evidence: 'batch 4 lists no block below 118, and 8 are verified',
  });
  expect(await judge([])).toMatchObject({
    is: 'contradicted',
    evidence: 'batch 4 lists no block, and 10 are verified',
  });
});
