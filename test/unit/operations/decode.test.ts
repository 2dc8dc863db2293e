import { expect, test } from 'vitest';
import { type Outline, outlineOf } from '../../../src/drift/fields.ts';
import { decodeItem } from '../../../src/lists/decode.ts';
import { parseBody } from '../../../src/explorer/response.ts';
import { type OperationName, operationNames, operations } from '../../../src/lists/registry.ts';
import { goldenPages } from './golden.ts';

const itemsOf = (name: OperationName): Record<string, unknown>[] =>
  goldenPages(name).flatMap(({ body }) => {
    const { items } = parseBody(Buffer.from(body)) as { items: unknown[] };
    const objects = items.filter((item): item is Record<string, unknown> => item instanceof Object);
    return objects.slice(0, 2);
  });

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

const two = (part: number) => String(part).padStart(2, '0');
const texts = [
  ...Array.from({ length: 448 }, (_, day) => `2023-${two(day >> 5)}-${two(day % 32)}T12:00:00Z`),
  ...['00:00:00', '23:59:59.1', '24:00:00', '12:60:00', '12:00', '09:08:07.1234567'].flatMap(
    (hour) => ['Z', '', '+02:00'].map((zone) => `2024-02-28T${hour}${zone}`),
  ),
  ...Array.from({ length: 80 }, (_, length) => '9'.repeat(length)),
  ...[19, 20, 32].flatMap((bytes) => [`0x${'aB'.repeat(bytes)}`, `0x${'gB'.repeat(bytes)}`]),
  '-7',
  '7\n',
];

const placesIn = (place: Outline): Outline[] =>
  [...(place.fields?.values() ?? []), ...(place.element === null ? [] : [place.element])].flatMap(
    (inner) => [inner, ...placesIn(inner)],
  );

test.each(operationNames)('%s: the fast parsers of texts agree with the schema', (name) => {
  const differing = placesIn(outlineOf(operations[name].item)).flatMap(({ path, schema, usual }) =>
    texts.flatMap((text) => {
      const read = usual?.(text);
      return read === undefined || schema.safeParse(text).data === read ? [] : [`${path}: ${text}`];
    }),
  );
  expect(differing).toEqual([]);
});

test.each(operationNames)('%s: the fast check of an item agrees with the schema', (name) => {
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
