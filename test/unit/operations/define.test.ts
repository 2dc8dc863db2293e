import { integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { newestFirst, operation } from '../../../src/lists/define.ts';
import { pageToken } from '../../../src/lists/positions.ts';

const table = pgTable(
  'toys',
  {
    chain_id: integer(),
    id: integer(),
    height: integer(),
    time: text(),
    removed_at: text(),
    extra: jsonb(),
  },
  ({ chain_id, id }) => [primaryKey({ columns: [chain_id, id] })],
);
const strange = pgTable('strange', { chain_id: integer(), toy: integer(), hash: text() });

function declare(
  fields: z.ZodRawShape,
  children: Record<string, typeof strange> = {},
  cursor = pageToken('hash'),
) {
  return operation({
    name: 'toys',
    path: () => 'toys',
    cursor,
    item: z.looseObject({ id: z.int(), height: z.int().nullish(), ...fields }),
    table,
    key: ['id'],
    version: [],
    columns: {},
    children,
    concludes: [],
    list: newestFirst(
      { height: 'height', time: 'time', unit: 'blocks' },
      { schedule: '* * * * *', overlap: '0s', resweep: [] },
    ),
    offer: () => 'usual',
    guide: { list: 'toys', items: 'toys', about: '', example: () => '' },
  });
}
const time = z.string().nullish();
const hashes = z.array(z.string());

describe('a declaration', () => {
  test('is an operation', () => {
    expect(declare({ time }).order).toMatchObject({
      fields: { height: ['height'], time: ['time'] },
      key: [{ column: 'id', names: ['id'], isNumber: true }],
    });
  });

  test.each([
    ['a field without a column', { time, colour: z.string() }, {}, 'no colour'],
    ['a list without a table', { time, hashes }, {}, 'hashes has no table'],
    ['a table whose rows lead nowhere', { time, hashes }, { hashes: strange }, "don't refer"],
    ['an order that no field reports', {}, {}, 'no field reports time'],
  ])('with %s is refused', (_, fields, children, message) => {
    expect(() => declare(fields, children)).toThrow(message);
  });

  test('whose cursor names more than its key is refused', () => {
    const cursor = pageToken('hash', 'number');
    expect(() => declare({ time }, {}, cursor)).toThrow('other parts than the key, which is id');
  });
});
