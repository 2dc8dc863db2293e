import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Generation, Oddity } from '../../../simulator/index.ts';
import { quarantined } from '../../harness/truth/truth.ts';
import { differences } from '../../harness/tables.ts';
import { copyChain, copySeed, openCopy, smallChain } from './copy.ts';

const generations: readonly Generation[] = ['v10', 'v11', 'v12'];
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

describe.each(generations)('generation %s', (generation) => {
  test.each(oddities)('with %s is copied row for row', async (oddity) => {
    const chain = smallChain({ generation, oddities: [oddity] });
    const { pool } = await copyChain(chain);
    expect(await differences(pool, copySeed, chain, { withSecretKey: true })).toEqual({});
  });

  test('leaves no echoed key in any cursor', async () => {
    const chain = smallChain({ generation, oddities: ['echo-key'] });
    const { pool } = await copyChain(chain);
    const { rows } = await pool.query<{ fields: string }>(
      `select distinct jsonb_object_keys(cursor) as fields
       from (
         select cursor_in as cursor from etl.pages
         union all select cursor_out from etl.pages
         union all select cursor from etl.walks
       ) as stored
       where cursor is not null
       order by 1`,
    );
    const declared =
      generation === 'v12'
        ? ['block_number', 'page_token']
        : ['block_number', 'items_count', 'page_token'];
    expect(rows.map(({ fields }) => fields)).toEqual(declared);
  });

  test('ends each list where the cursor is empty, and asks for it once more', async () => {
    const chain = smallChain({ generation, oddities: ['end-empty-object'] });
    const lists = ['user-operations', 'factories'];
    const { requests } = await copyChain(chain, { operations: lists });
    const pages = [chain.userOperations, chain.factories].map((count) => Math.ceil(count / 50));
    expect(requests()).toBe(pages.reduce((sum, count) => sum + count + 1, 0));
  });
});

test('ends no list whose last page lacks the field next_page_params', async () => {
  const { results, pool } = await copyChain(smallChain({ oddities: ['end-absent'] }));

  expect(results.every(({ state }) => state === 'interrupted')).toBe(true);
  const { rows } = await pool.query('select distinct state, failure from etl.feeds');
  expect(rows).toEqual([{ state: 'degraded', failure: 'envelope-invalid' }]);
});

describe.each(generations)('generation %s with every oddity at once', (generation) => {
  const chain = smallChain({ generation, oddities });
  let copy: Awaited<ReturnType<typeof openCopy>>;
  beforeAll(async () => {
    copy = await openCopy(chain);
    return () => copy.close();
  });

  test('is copied row for row', async () => {
    expect(await differences(copy.pool, copySeed, chain, { withSecretKey: true })).toEqual({});
  });

  test('keeps every item without a hash in quarantine, with the field that is missing', async () => {
    const { rows } = await copy.pool.query<{ operation: string; reason: string; raw: object }>(
      'select operation, reason, raw from etl.quarantine',
    );
    const named = /^(?:hash|address\.hash): Invalid input: expected string, received undefined$/;
    const isTold = ({ operation, reason, raw }: (typeof rows)[number]) =>
      named.test(reason) &&
      (operation === 'factories'
        ? isDeepStrictEqual(raw, { ...raw, address: { name: 'x' } })
        : !('hash' in raw));
    expect(rows).toHaveLength(quarantined(copySeed, chain));
    expect(rows.filter((row) => !isTold(row))).toEqual([]);
    expect(new Set(rows.map(({ operation }) => operation)).size).toBe(3);
  });

  test('accounts for every item that the service handed out', async () => {
    const { rows } = await copy.pool.query(
      `select sum(items)::int as items,
              sum(items * attempts)::int as handed_out,
              sum(rows + quarantined + repeats)::int as accounted,
              bool_or(repeats > 0) as has_repeats,
              bool_or(quarantined > 0) as has_quarantined,
              bool_or(items = 0 and cursor_out is not null) as has_empty_page
       from etl.pages`,
    );
    // What was requested twice was handed out twice.
    expect(rows).toEqual([
      {
        items: rows[0]?.accounted,
        accounted: rows[0]?.items,
        handed_out: copy.handedOut(),
        has_repeats: true,
        has_quarantined: true,
        has_empty_page: true,
      },
    ]);
  });
});
