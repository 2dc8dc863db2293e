import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { decodeItem } from '../../../src/lists/decode.ts';
import { parseBody } from '../../../src/explorer/response.ts';
import { type OperationName, operationNames, operations } from '../../../src/lists/registry.ts';

const golden = new URL('../../golden/', import.meta.url);

function itemsOf(name: OperationName): Record<string, unknown>[] {
  const folder = new URL(`${name}/`, golden);
  const pages = readdirSync(folder).filter((file) => file.endsWith('.page.json'));
  return pages.flatMap((file) => {
    const { items } = parseBody(readFileSync(new URL(file, folder))) as { items: unknown[] };
    const objects = items.filter((item): item is Record<string, unknown> => item instanceof Object);
    return objects.slice(0, 2);
  });
}

const odd = [null, 7, -1, 1.5, '', '0x', `0x${'aB'.repeat(20)}`, true, [], [null, 1, {}], {}];

/** The item, and as often as it has fields and fields of its objects: with another value there. */
const variants = (item: Readonly<Record<string, unknown>>): Record<string, unknown>[] => [
  item,
  ...Object.entries(item).flatMap(([field, value]) => [
    ...odd.map((other) => ({ ...item, [field]: other })),
    ...(typeof value === 'object' && value !== null && !Array.isArray(value)
      ? variants(value as Record<string, unknown>).map((inner) => ({ ...item, [field]: inner }))
      : []),
  ]),
];

test.each(operationNames)('%s: an item is read whole if its schema takes it', (name) => {
  const { item: schema } = operations[name];
  const differing = itemsOf(name)
    .flatMap(variants)
    .filter((item) => {
      const decoded = decodeItem(schema, item);
      const isWhole = decoded.is === 'valid' && decoded.unread.length === 0;
      return isWhole !== schema.safeParse(item).success;
    });
  expect(differing).toEqual([]);
});
