import type { Fault } from '../fault.ts';
import { alterPage } from './page.ts';

type Item = Readonly<Record<string, unknown>>;

/** A whole number and a text that each list has; the first that an item has is made wrong. */
const numbers = ['block_number', 'total_accounts', 'height'];
const texts = ['entry_point_version', 'type'];

/** Stands for JSON that no value is written as. */
const placeholder = '@written by hand@';

const fieldOf = (item: Item, names: readonly string[]) => names.find((name) => name in item);

/** Makes one item of each page wrong, that in its middle. */
function alterItem(alter: (item: Item) => Item, json = ''): Fault {
  return alterPage(({ items, ...rest }) => {
    const middle = Math.floor(items.length / 2);
    const altered = items.map((item, place) => (place === middle ? alter(item) : item));
    const page = { items: altered, ...rest };
    if (json === '') return page;
    return Buffer.from(JSON.stringify(page).replace(`"${placeholder}"`, () => json));
  });
}

const withNumber = (value: unknown) => (): Fault =>
  alterItem((item) => ({ ...item, [fieldOf(item, numbers) ?? 'note']: value }));

const withTime = (timestamp: string) => (): Fault => alterItem((item) => ({ ...item, timestamp }));

/** Entries, because a literal would set the prototype. */
const withEntry = (name: string, value: unknown) => (): Fault =>
  alterItem((item) => Object.fromEntries([...Object.entries(item), [name, value]]));

/** Far deeper than a program that calls itself for each level can go. */
const levels = 100_000;
/** Shallow enough for JSON.stringify, deeper than any page. */
const someLevels = 1_000;
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const withNesting = (depth: number) => (): Fault =>
  alterItem((item) => ({ ...item, note: placeholder }), nested(depth));

const longText = 'x'.repeat(1024 * 1024);

/** One item of each page with a value that no item should have. */
export const itemFaults = {
  'number-1e400': () =>
    alterItem((item) => ({ ...item, [fieldOf(item, numbers) ?? 'note']: placeholder }), '1e400'),
  'number-negative': withNumber(-1),
  'number-hex': withNumber('0x10'),
  'number-float': withNumber(1.5),
  'number-huge': withNumber('9'.repeat(400)),
  'time-of-year-10000': withTime('10000-01-01T00:00:00.000000Z'),
  'time-of-year-0': withTime('0000-01-01T00:00:00.000000Z'),
  'time-of-no-day': withTime('2026-02-30T00:00:00.000000Z'),
  'string-of-1-mb': () =>
    alterItem((item) => ({ ...item, [fieldOf(item, texts) ?? 'name']: longText, note: longText })),
  'nested-1000': withNesting(someLevels),
  'nested-100000': withNesting(levels),
  'lone-surrogate': withEntry('note \uD800', 'half \uDC00 a pair, and \0'),
  'proto-key': withEntry('__proto__', { polluted: true }),
  'constructor-key': withEntry('constructor', { prototype: { polluted: true } }),
} as const satisfies Readonly<Record<string, () => Fault>>;
