import {
  bigint,
  customType,
  getTableConfig,
  numeric,
  pgSchema,
  timestamp,
  type PgTable,
} from 'drizzle-orm/pg-core';

/** What analysts read: a stable contract. */
export const explorerSchema = pgSchema('explorer');
/** Ours: feeds, walks, the ledger, quarantine. */
export const etlSchema = pgSchema('etl');

/**
 * A hash or an address: lower-case hex text. Collation "C" compares bytes, which is both the
 * service's own order of hashes and the fastest one.
 */
export const hexText = customType<{ data: string }>({ dataType: () => 'text collate "C"' });

/** Wei and other integers up to 2^256 - 1, which has 78 digits; a decimal string in TypeScript. */
export const bigNumber = (name: string) => numeric(name, { precision: 78, scale: 0 });

/** Counts, heights and ids; within 2^53, which the decoders enforce. */
export const integer = (name: string) => bigint(name, { mode: 'number' });

/** Sets of heights or numbers as ranges, in the spelling of Postgres. */
export const integerRanges = customType<{ data: string }>({ dataType: () => 'int8multirange' });

/** One such range. */
export const integerRange = customType<{ data: string }>({ dataType: () => 'int8range' });

/** An instant with microseconds, ISO 8601 text in TypeScript. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'string' });

/** What every data table carries: since when, until when, and which page said so. */
export const provenance = () => ({
  first_seen_at: instant('first_seen_at').notNull().defaultNow(),
  updated_at: instant('updated_at').notNull().defaultNow(),
  page_id: integer('page_id').notNull(),
});

/** Schema and name, as SQL. */
export function tableName(table: PgTable): string {
  const { schema, name } = getTableConfig(table);
  return `${schema}.${name}`;
}
