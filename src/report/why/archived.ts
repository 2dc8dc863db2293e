import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { isExactNumber } from '../../exact-number.ts';
import { parseBody } from '../../explorer/response.ts';
import type { Archived, FoundRow } from '../../page/why/facts.ts';
import { createRedactor } from '../../redact.ts';
import { unpackBody } from '../../sync/archive.ts';

/** A compressed body that is looked into, in bytes: a page has some ten thousand. */
const largestPacked = 1024 * 1024;
/** Characters of an item that are shown. */
const longestItem = 3_000;
/** How deep in an item something is sought: the items of all lists have some five levels. */
const deepest = 12;

/** An item may repeat the address that it was asked for with. */
const redact = createRedactor([]);

/** The item that a row came from, if its page's body was kept. */
export async function archivedItem(
  db: Database,
  { page_id, key }: Pick<FoundRow, 'page_id' | 'key'>,
): Promise<Archived> {
  const { rows } = await db.execute<{ body: Buffer | null; encoding: string }>(sql`
    select case when octet_length(body) <= ${largestPacked} then body end as body, encoding
    from etl.raw_pages
    where page_id = ${page_id}
  `);
  const [kept] = rows;
  if (kept === undefined) return { is: 'not-kept' };
  if (kept.body === null) return { is: 'too-large' };
  const items = itemsOf(kept.body, kept.encoding);
  if (items === null) return { is: 'unreadable' };
  const sought = Object.entries(key).flatMap(([name, value]) =>
    name === 'chain_id' || name === 'position' ? [] : [String(value)],
  );
  const item = items.find((one) => sought.slice(0, 1).every((value) => tells(one, value, deepest)));
  if (item === undefined) return { is: 'not-found', items: items.length };
  const text = redact(JSON.stringify(item, null, 2));
  return { is: 'item', text: text.slice(0, longestItem), length: text.length };
}

/** The items of a body, whatever list it is of; null where this version can't read it. */
function itemsOf(body: Buffer, encoding: string): readonly unknown[] | null {
  try {
    const page = parseBody(unpackBody(body, encoding));
    const items: unknown = Reflect.get(Object(page), 'items');
    return Array.isArray(items) ? items : null;
  } catch {
    return null;
  }
}

/** Whether a value is told anywhere in an item. */
function tells(item: unknown, value: string, depth: number): boolean {
  if (depth === 0 || item === null) return false;
  if (typeof item === 'string') return item.toLowerCase() === value;
  if (typeof item === 'number') return String(item) === value;
  if (isExactNumber(item)) return item.rawJSON === value;
  if (typeof item !== 'object') return false;
  return Object.values(item).some((part) => tells(part, value, depth - 1));
}
