import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Generation, Oddity } from '../../../simulator/index.ts';
import { quarantined } from '../../truth/truth.ts';
import { copySeed, openCopy, secretKey, smallChain } from '../../harness/sync.ts';

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

/** A copy of a chain that is odd in some ways, and how many items were handed out for it, copies included. */
async function copyOdd(generation: Generation, ...odd: readonly Oddity[]) {
  let handedOut = 0;
  const chain = smallChain({ generation, oddities: odd });
  const onRequest = ({ items }: { items: number }) => void (handedOut += items);
  const copy = await openCopy(chain, { secretKey, onRequest });
  const { results } = await copy.sync();
  return { ...copy, chain, results, handedOut };
}

describe.each<Generation>(['v10', 'v11', 'v12'])('generation %s', (generation) => {
  test.each([
    ...oddities.map((oddity) => [oddity, [oddity]] as const),
    ['every oddity at once', oddities] as const,
  ])('with %s is copied row for row', async (_, odd) => {
    const { differing } = await copyOdd(generation, ...odd);
    expect(await differing()).toEqual({});
  });

  test('leaves no echoed key in any cursor', async () => {
    const { query } = await copyOdd(generation, 'echo-key');
    const fields = await query(`
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
    const { chain, query } = await copyOdd(generation, ...oddities);
    const rows = await query('select operation, reason, raw from etl.quarantine');
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
    const { query, handedOut } = await copyOdd(generation, ...oddities);
    const [sums] = await query(`
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
});

test('a list whose last page lacks the field next_page_params does not end', async () => {
  const { results, query } = await copyOdd('v12', 'end-absent');

  expect(results.every(({ state }) => state === 'interrupted')).toBe(true);
  expect(await query('select distinct state, failure from etl.feeds')).toEqual([
    { state: 'degraded', failure: 'envelope-invalid' },
  ]);
});
