import { bigserial, index, jsonb, numeric, primaryKey, text } from 'drizzle-orm/pg-core';
import { etlSchema, instant, integer, integerRanges } from '../db/column-types.ts';
import { feedColumns } from '../db/tables.ts';

/** What the program wrote to tables of schema `explorer`, by the moment that first stored a row. */
export const rowCounts = etlSchema.table(
  'row_counts',
  {
    chain_id: integer('chain_id').notNull(),
    table_name: text('table_name').notNull(),
    first_seen_at: instant('first_seen_at').notNull(),
    rows: integer('rows').notNull(),
    digests: numeric('digests').notNull(),
    first_page_id: integer('first_page_id'),
    last_page_id: integer('last_page_id'),
    /** Of the rows that were written, new ones and changed ones: no other page is one's provenance. */
    lowest_page_id: integer('lowest_page_id'),
    highest_page_id: integer('highest_page_id'),
  },
  (table) => [
    // Written in the order of pages, and asked for a range of them once an hour: a btree would cost each page.
    index('row_counts_pages')
      .using('brin', table.lowest_page_id, table.highest_page_id)
      .with({ autosummarize: true }),
  ],
);

/** Rows that others deleted, changed or added, as they were found. */
export const damage = etlSchema.table('damage', {
  id: bigserial('id', { mode: 'number' }).primaryKey(),
  found_at: instant('found_at').notNull().defaultNow(),
  chain_id: integer('chain_id').notNull(),
  table_name: text('table_name').notNull(),
  finding: text('finding').notNull(),
  key: jsonb('key'),
  row: jsonb('row'),
  first_seen_at: instant('first_seen_at'),
  rows: integer('rows'),
  first_page_id: integer('first_page_id'),
  last_page_id: integer('last_page_id'),
});

/** What is to be read again because rows of it were damaged, by walks after `after_walk`. */
export const rereads = etlSchema.table(
  'rereads',
  {
    // Not of a registered one always: somebody may have added rows of any chain.
    ...feedColumns(),
    after_walk: integer('after_walk').notNull(),
    /** Null: the whole list. */
    blocks: integerRanges('blocks'),
    noted_at: instant('noted_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.feed, table.after_walk] })],
);
