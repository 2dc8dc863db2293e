import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { Described, Dictionary } from '../page/explore/facts.ts';

/** Entries that a search shows; a word that more of them have is none to search by. */
const mostEntries = 60;
/** Characters of a word: longer ones are in no comment. */
const longestWord = 100;

const entry = sql`
  json_build_object(
    'table', table_name, 'kind', kind, 'column', column_name, 'type', type, 'unit', unit,
    'is_key', coalesce(is_key, false), 'description', description
  ) as entry`;

/** The tables and views that analysts read. */
export async function describedTables(db: Database): Promise<Dictionary> {
  const { rows } = await db.execute<{ entry: Described }>(sql`
    select ${entry} from explorer.dictionary where column_name is null order by table_name
  `);
  return { is: 'tables', tables: rows.map((row) => row.entry) };
}

/** One of them, with its columns in their order; nothing where there is none of this name. */
export async function describedTable(db: Database, name: string): Promise<Dictionary> {
  const { rows } = await db.execute<{ entry: Described }>(sql`
    select ${entry} from explorer.dictionary where table_name = ${name} order by position
  `);
  return { is: 'table', name, entries: rows.map((row) => row.entry) };
}

/** The tables and columns that have a word in their names, types or meanings, wherever it stands. */
export async function searchDictionary(db: Database, text: string): Promise<Dictionary> {
  // Postgres takes no NUL, and JavaScript no halves of characters.
  const word = text.trim().slice(0, longestWord).replaceAll('\0', '').toWellFormed();
  const { rows } = await db.execute<{ entry: Described }>(sql`
    select ${entry}
    from explorer.dictionary
    where strpos(
      lower(concat_ws(' ', table_name, column_name, type, unit, source, description)),
      lower(${word})
    ) > 0
    order by table_name, position
    limit ${mostEntries + 1}
  `);
  const entries = rows.map((row) => row.entry);
  return {
    is: 'search',
    word,
    entries: entries.slice(0, mostEntries),
    isCut: entries.length > mostEntries,
  };
}
