import { expect, test } from 'vitest';
import { ledgerFaults } from '../../harness/ledger.ts';
import { openCopy } from '../../harness/sync.ts';
import { chainOf, edits, expectRepaired, laned, operations } from './batch-edits.ts';
import { inLong } from '../../harness/long-cases.ts';

/** Two explorers of a chain, before and after new batches, and syncs that have no range. */
async function growing() {
  const gaps = { gaps: [4, 8] };
  const before = await openCopy(chainOf(12, gaps));
  const after = await openCopy(chainOf(18, gaps));
  const search = { operations, isRangeGiven: false };
  const grow = () => before.sync({ url: after.simulator.url, ...search });
  return { ...before, sync: () => before.sync(search), grow, after: after.simulator };
}

const latest = 'select latest_batch::int from etl.feeds';

test('without a range, the newest batch is searched, and all below it are read once', async () => {
  const { sync, query, differing } = await growing();

  await sync();

  expect(await query(latest)).toEqual([{ latest_batch: 12 }]);
  expect(await differing({ operations })).toEqual({});
  // One poll above, and the newest batch, which is the only one that nothing verifies yet.
  expect((await sync()).requests).toBe(1 + 1);
});

test('new batches are found and read, and none below them again', async () => {
  const { sync, grow, after, query, reports } = await growing();
  await sync();
  // A poll right above the latest batch comes every other time.
  for (let run = 0; run < 2; run += 1) await grow();

  expect(await query(latest)).toEqual([{ latest_batch: 18 }]);
  expect(after.requests).toBeLessThanOrEqual(2 * 3 + 6 + 1);
  const [report] = await reports();
  expect(report?.covered).toMatchObject([{ from: 1, to: 17 }]);
  expect(report?.head).toEqual(['batch 18: waiting for an update by the service']);
});

test('eight parallel walks verify all but the newest batch, and read only the lowest twice', async () => {
  const { runner, lanes, simulator, pool, query, differing } = await laned(
    chainOf(24, { gapsPercent: 10 }),
    8,
  );

  expect(await runner.run(lanes, new Date(), 'sync')).toEqual(['finished']);

  expect(await differing({ operations })).toEqual({});
  expect(await ledgerFaults(pool, 'ended')).toEqual({});
  // Nothing is below the lowest: two walks request its end twice each.
  expect(simulator.requests).toBe(24 + 3);
  expect(
    await query('select batch_number::int from explorer.read_batches where not is_verified'),
  ).toEqual([{ batch_number: 24 }]);
});

test.each([
  'another hash',
  'a deleted batch',
  ...inLong('a deleted block' as const, 'no link at a border' as const),
] as const)('%s: verify names the batch, and repair reads it again', (what) =>
  expectRepaired(edits[what]),
);
