import { expect, test } from 'vitest';
import { mostGrowth, openMeasured } from './measured.ts';

/** Pages that would become far more than their bytes, and why each is none. */
const excessive = {
  'nested-100000': 'the body nests deeper than 1024 levels',
  'many-brackets': 'the body has more than 30000 values',
  'many-objects': 'the body has more than 30000 values',
  'many-numbers': 'the body has more than 30000 values',
  'many-fields': 'the body has more than 30000 values',
  'many-items': 'items: Too big: expected array to have <=500 items',
} as const;
const names = Object.keys(excessive) as (keyof typeof excessive)[];

test('pages with too many values fail their feeds and no others, in the heap of a container of 512 MB', async () => {
  const operations = ['user-operations', 'factories'];
  const { sync, query } = await openMeasured(names, { operations, struck: ['user-operations'] });
  const { reasons, grownBytes } = await sync();
  const said = reasons.filter((reason) => reason !== null);
  for (const name of names) {
    expect(said).toContainEqual(expect.stringContaining(excessive[name]));
  }
  expect(said.length).toBe(names.length);
  const stored = await query(`
    select count(*)::int as factories, (select count(*)::int from explorer.user_operations) as operations
    from explorer.factories`);
  expect(stored).toEqual([{ factories: names.length * 60, operations: 0 }]);
  expect(grownBytes).toBeLessThan(mostGrowth);
});
