import { expect, test } from 'vitest';
import { type OperationName, operationNames, operations } from '../../../src/lists/registry.ts';

const ranked = operationNames.filter((name) => operations[name].kind === 'ranked');
const byToken = ['user-operations', 'bundles', ...ranked] as const;
const byBlock = ['optimism-batch-blocks'] as const;
type Fields = Readonly<Record<string, string | number>>;
const rows = <Value>(names: readonly OperationName[], values: readonly Value[]) =>
  names.flatMap((name) => values.map((value) => [name, value] as const));

test.each([
  ...rows(byToken, [
    [{ page_token: 't', page_size: 50 }, { page_token: 't' }],
    [{ page_token: 't', page_size: 'fifty' }, { page_token: 't' }],
    [{ page_token: 't', key: 'secret', apikey: 'secret' }, { page_token: 't' }],
  ]),
  ...rows(byBlock, [
    [
      { block_number: '7', items_count: '50' },
      { block_number: 7, items_count: 50 },
    ],
    [{ block_number: 7, key: 'secret' }, { block_number: 7 }],
    // The service reads block 0 as no cursor, and serves page 1 again.
    [{ block_number: 0, items_count: 50 }, null],
  ]),
])('a cursor of %s keeps its declared fields: %j', (name, [raw, expected]) => {
  expect(operations[name].cursor.parse(raw)).toEqual(expected);
});

test.each([
  ...rows(byToken, [
    { page_size: 50 },
    { page_token: '' },
    { page_token: null },
    { page_token: 7 },
    { page_token: 'x'.repeat(5000) },
  ]),
  ...rows(byBlock, [{}, { block_number: -1 }, { block_number: 'x' }, { items_count: 50 }]),
])('%s has no cursor %j', (name, raw) => {
  expect(operations[name].cursor.safeParse(raw).success).toBe(false);
});

test.each([
  ...rows<[Fields | null, Fields]>(byToken, [
    [null, { page_size: 50 }],
    [
      { page_token: 't', page_size: 7 },
      { page_token: 't', page_size: 50 },
    ],
  ]),
  ...rows<[Fields | null, Fields]>(byBlock, [
    [null, { items_count: 50 }],
    // Its page size is a part of the cursor.
    [
      { block_number: 7, items_count: 9 },
      { block_number: 7, items_count: 9 },
    ],
  ]),
])('a request of %s has its cursor and the page size: %j', (name, [cursor, query]) => {
  expect(operations[name].request({ batch: 4 }, cursor, 50).query).toEqual(query);
});
