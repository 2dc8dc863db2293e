import fc from 'fast-check';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { OperationName } from '../../../src/lists/registry.ts';
import { freshDatabase, untilLocked } from '../../harness/database.ts';
import { addressOf, hashOf, load, loadOneByOne, type ServedPage } from './loader.ts';
import { rowsOf, shown } from './observations.ts';

/** Each sequence is loaded three times. A failure names the seed and the path to it. */
const runs = { numRuns: inject('isLong') ? 150 : 10, seed: 50 };

const word = fc.constantFrom('1', '2');
const someOf = <Member>(member: fc.Arbitrary<Member>) =>
  fc.oneof(fc.constant(null), fc.constant(7), fc.array(member, { maxLength: 2 }));

/** Few hashes and addresses, so that they meet again. */
const items = {
  'user-operations': fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 }))
    .chain(([item, sender]) =>
      fc.record({
        hash: fc.constant(hashOf(item)),
        fee: fc.oneof(word, fc.constant({})),
        address: shown(addressOf(sender)),
        entry_point: shown(addressOf(3)),
      }),
    ),
  'optimism-batch-blocks': fc.record({
    height: fc.integer({ min: 1, max: 2 }),
    hash: fc.oneof({ weight: 4, arbitrary: fc.constant(hashOf(1)) }, fc.constant(hashOf(2))),
    gas_used: fc.oneof(word, fc.constant({})),
    miner: shown(addressOf(1)),
    rewards: someOf(fc.record({ reward: fc.oneof(word, fc.constant({})) })),
    uncles_hashes: someOf(fc.record({ hash: fc.constantFrom(hashOf(3), hashOf(4)) })),
  }),
} as const satisfies Partial<Record<OperationName, fc.Arbitrary<object>>>;

/** Pages that are committed one by one, and then pages that are committed in groups; their numbers interleave. */
const sequenceOf = (item: fc.Arbitrary<object>) =>
  fc
    .array(
      fc.record({
        items: fc.uniqueArray(item, {
          selector: (one) => JSON.stringify(Object.values(one)[0]),
          minLength: 1,
          maxLength: 2,
        }),
        isBefore: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
        endsGroup: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
      }),
      { minLength: 2, maxLength: 7 },
    )
    .map((made) => {
      const pages = made.map((page, index) => ({ ...page, page_id: index + 1 }));
      const groups: ServedPage[][] = [[]];
      const grouped = pages.filter(({ isBefore }) => !isBefore);
      for (const { endsGroup, ...page } of grouped) {
        groups.at(-1)?.push(page);
        if (endsGroup) groups.push([]);
      }
      return { before: pages.filter(({ isBefore }) => isBefore), groups };
    });

test.each(Object.keys(items) as (keyof typeof items)[])(
  'pages of %s leave the same rows, of the same pages, whatever pages share a transaction',
  async (list) => {
    const { pool } = await freshDatabase();
    let chain = 0;
    await fc.assert(
      fc.asyncProperty(sequenceOf(items[list]), async ({ before, groups }) => {
        const left = [];
        for (const grouping of [groups, [groups.flat()], groups.flat().map((page) => [page])]) {
          chain += 1;
          await loadOneByOne(pool, list, before, chain);
          for (const group of grouping) await load(pool, list, group, chain);
          left.push(await rowsOf(pool, chain));
        }
        const [grouped, together, apart] = left;
        expect(together).toEqual(apart);
        expect(grouped).toEqual(apart);
      }),
      runs,
    );
  },
);

test('pages of the same items lock them in one order, also where one is read in part', async () => {
  const { pool, query } = await freshDatabase();
  // Postgres resolves no deadlock: two pages that wait for each other never end.
  await query(`do $$ begin
    execute format('alter database %I set deadlock_timeout = ''1h''', current_database());
  end $$`);
  const lower = { hash: hashOf(1), fee: '1' };
  const upper = { hash: hashOf(2), fee: '1' };
  await load(pool, 'user-operations', [{ page_id: 1, items: [lower, upper] }]);
  const other = await pool.connect();
  onTestFinished(() => other.release(true));
  await other.query('begin');
  await other.query(`select from explorer.user_operations where hash = '${hashOf(1)}' for update`);

  const whole = load(pool, 'user-operations', [{ page_id: 2, items: [lower, upper] }]);
  await untilLocked(pool);
  const inPart = { ...upper, fee: {} };
  const partly = load(pool, 'user-operations', [{ page_id: 3, items: [lower, inPart] }]);
  await untilLocked(pool, 2);
  await other.query('commit');

  const changed = (await Promise.all([whole, partly])).map(({ size }) => size);
  // What could not be read is in `extra` now.
  expect(changed).toEqual([0, 1]);
});
