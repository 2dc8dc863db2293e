import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SimulatedChain } from '../../../simulator/index.ts';
import type { OpenDatabase } from '../../harness/database.ts';
import { plainChain } from '../../harness/sync.ts';
import { archivedCopy, minuteMs, replayed, restless, storedRows } from './archive.ts';

/** When rows were written: a transaction's time. */
const times = ['first_seen_at', 'observed_at'];

/** A chain that moves, whose lists show items and addresses more than once, and differently. */
const chain = {
  ...plainChain,
  userOperations: 200,
  batches: { first: 1, count: 3, blocks: 60 },
  generation: 'v10',
  oddities: ['duplicates-in-page', 'duplicates-across-pages', 'missing-hash', 'max-wei'],
  motion: restless,
} as const satisfies SimulatedChain;

/** What replay writes, without rows. */
const emptied = `
  truncate explorer.user_operations, explorer.blocks, explorer.listed_batches, explorer.bundles,
           explorer.addresses, explorer.block_reorgs cascade`;
/** As an older version left the rows, which did not know some of the fields. */
const forgotten = `
  update explorer.user_operations set fee = null, entry_point_hash = null;
  update explorer.blocks set gas_used = null, miner_hash = null;
  update explorer.addresses set name = null, is_contract = null, proxy_type = null;
  delete from explorer.block_rewards`;

/** Pages of the archive as replay takes them: so many in the first transaction, then so many, and from the first again. */
const sizes = fc.array(fc.integer({ min: 1, max: 16 }), { minLength: 1, maxLength: 4 });

async function replayInGroups(database: OpenDatabase, groups: readonly number[]) {
  const { query } = database;
  await query('alter table etl.raw_pages rename to archive');
  await query('create table etl.raw_pages (like etl.archive)');
  const [{ count } = { count: 0 }] = await query('select count(*)::int as count from etl.archive');
  for (let [from, turn] = [0, 0]; from < count; turn += 1) {
    const size = groups[turn % groups.length] ?? 1;
    await query('truncate etl.raw_pages');
    await query(
      `insert into etl.raw_pages select * from etl.archive order by page_id limit $1 offset $2`,
      [size, from],
    );
    await replayed(database);
    from += size;
  }
  await query('drop table etl.raw_pages');
  await query('alter table etl.archive rename to raw_pages');
}

/** The rows that a replay into empty tables leaves, and one over rows that lack fields; a third one changes none. */
async function rowsAfter(database: OpenDatabase, groups: readonly number[]) {
  await database.query(emptied);
  await replayInGroups(database, groups);
  const whole = await storedRows(database, times);
  await database.query(forgotten);
  await replayInGroups(database, groups);
  const restored = await storedRows(database, times);
  const before = await storedRows(database);
  await replayInGroups(database, groups);
  expect(await storedRows(database)).toEqual(before);
  return { whole, restored };
}

test('replays leave the same rows, of the same pages, whatever pages share a transaction', async () => {
  const { database, syncAt } = await archivedCopy(chain);
  for (let run = 0; run < 3; run += 1) {
    const operations = ['user-operations', 'optimism-batches', 'optimism-batch-blocks', 'bundles'];
    await syncAt(run * 10 * minuteMs, {
      operations,
      overlapMs: 60 * minuteMs,
      isRangeGiven: false,
    });
  }
  const apart = await rowsAfter(database, [1]);
  await fc.assert(
    fc.asyncProperty(sizes, async (groups) => {
      expect(await rowsAfter(database, groups)).toEqual(apart);
    }),
    // A failure names the seed, and the path to it.
    { seed: 50, numRuns: 10, examples: [[[16]]] },
  );
});
