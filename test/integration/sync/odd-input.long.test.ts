import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type Generation, type Oddity, startSimulator } from '../../../simulator/index.ts';
import { sharedDatabase } from '../../harness/database.ts';
import { quarantined } from '../../truth/truth.ts';
import { copySeed, openCopy, runSync, secretKey, smallChain } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';

const oddities: readonly Oddity[] = [
  'max-wei',
  'nul-in-name',
  'duplicates-in-page',
  'duplicates-across-pages',
  'empty-page-with-cursor',
  'missing-hash',
  'end-empty-object',
  'echo-key',
];

/** A copy of a chain that is odd in some ways. */
async function copyOdd(generation: Generation, ...odd: readonly Oddity[]) {
  const copy = await openCopy(smallChain({ generation, oddities: odd }), { secretKey });
  const { results } = await copy.sync();
  return { ...copy, results };
}

test.each(oddities)('a chain with %s is copied row for row', async (oddity) => {
  const { differing } = await copyOdd('v11', oddity);
  expect(await differing()).toEqual({});
});

describe.each<Generation>(['v10', 'v11', 'v12'])(
  'generation %s, odd in every way,',
  (generation) => {
    const chain = smallChain({ generation, oddities });
    let handedOut = 0;
    const database = sharedDatabase(async (empty) => {
      const onRequest = ({ items }: { items: number }) => void (handedOut += items);
      const served = { seed: copySeed, chains: [chain], clock: () => 0, secretKey, onRequest };
      const simulator = await startSimulator(served);
      await runSync(empty, { url: simulator.url, chains: [chain], secretKey });
      await simulator.close();
    });

    test('is copied row for row', async () => {
      const scope = { withSecretKey: true };
      expect(await differences(database.pool, copySeed, chain, scope)).toEqual({});
    });

    test('leaves no echoed key in any cursor', async () => {
      const fields = await database.query(`
      select distinct jsonb_object_keys(cursor) as field
      from (
        select cursor_in as cursor from etl.pages
        union all select cursor_out from etl.pages
        union all select cursor from etl.walks
      ) as stored
      where cursor is not null
      order by 1`);
      expect(fields.map(({ field }) => field)).toEqual(
        generation === 'v12'
          ? ['block_number', 'page_token']
          : ['block_number', 'items_count', 'page_token'],
      );
    });

    test('keeps every item without a hash in quarantine, with the field that is missing', async () => {
      const rows = await database.query('select operation, reason, raw from etl.quarantine');
      const named = /^(?:hash|address\.hash): Invalid input: expected string, received undefined$/;
      const isRight = ({ operation, reason, raw }: (typeof rows)[number]) =>
        named.test(reason) &&
        (operation === 'factories'
          ? isDeepStrictEqual(raw.address, { name: 'x' })
          : !('hash' in raw));
      expect(rows).toHaveLength(quarantined(copySeed, chain));
      expect(rows.filter((row) => !isRight(row))).toEqual([]);
      expect(new Set(rows.map(({ operation }) => operation)).size).toBe(3);
    });

    test('accounts for every item that the service returned', async () => {
      const [sums] = await database.query(`
      select sum(items)::int as items,
             sum(items * attempts)::int as handed_out,
             sum(rows + quarantined + repeats)::int as accounted,
             bool_or(repeats > 0) as has_repeats,
             bool_or(quarantined > 0) as has_quarantined,
             bool_or(items = 0 and cursor_out is not null) as has_empty_page
      from etl.pages`);
      // What was requested twice was handed out twice.
      expect(sums).toEqual({
        items: sums.accounted,
        accounted: sums.items,
        handed_out: handedOut,
        has_repeats: true,
        has_quarantined: true,
        has_empty_page: true,
      });
    });
  },
);

test('a list whose last page lacks the field next_page_params does not end', async () => {
  const { results, query } = await copyOdd('v12', 'end-absent');

  expect(results.every(({ state }) => state === 'interrupted')).toBe(true);
  expect(await query('select distinct failure from etl.feeds')).toEqual([
    { failure: 'envelope-invalid' },
  ]);
});
