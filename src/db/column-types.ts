import { getTableColumns, type InferSelectModel } from 'drizzle-orm';
import {
  bigint,
  customType,
  getTableConfig,
  numeric,
  pgSchema,
  timestamp,
  type PgTable,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';

/** For analysts: a stable contract. */
export const explorerSchema = pgSchema('explorer');
/** Internal: feeds, walks, the ledger, quarantine. */
export const etlSchema = pgSchema('etl');

/** An address or hash in lower-case hex. Collation "C" is the service's order, and the fastest. */
export const hexText = customType<{ data: string }>({ dataType: () => 'text collate "C"' });

/** Integers up to 2^256 - 1 (78 digits), such as wei; a decimal string in TypeScript. */
export const bigNumber = (name: string) => numeric(name, { precision: 78, scale: 0 });

/** Counts, heights and ids; within 2^53, which the decoders enforce. */
export const integer = (name: string) => bigint(name, { mode: 'number' });

/** Heights or numbers as ranges. */
export const integerRanges = customType<{ data: string }>({ dataType: () => 'int8multirange' });

export const integerRange = customType<{ data: string }>({ dataType: () => 'int8range' });

/** Microseconds; ISO 8601 text in TypeScript. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'string' });

/** Columns of every data table: first seen, last changed, and the page of that change. */
export const provenance = () => ({
  first_seen_at: instant('first_seen_at').notNull().defaultNow(),
  updated_at: instant('updated_at').notNull().defaultNow(),
  page_id: integer('page_id').notNull(),
});

export function tableName(table: PgTable): string {
  const { schema, name } = getTableConfig(table);
  return `${schema}.${name}`;
}

/** A whole row of a table, as JSON or a statement gives it. */
export const rowOf = <T extends PgTable>(table: T) =>
  z.custom<InferSelectModel<T>>((row) => {
    const values = new Map(Object.entries(row ?? {}));
    return Object.values(getTableColumns(table)).every(
      ({ name, notNull }) => values.has(name) && !(notNull && values.get(name) === null),
    );
  });
