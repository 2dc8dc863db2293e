import { sql } from 'drizzle-orm';
import { check, integer as int4, jsonb, text } from 'drizzle-orm/pg-core';
import { etlSchema, instant, integer } from '../db/column-types.ts';
import type { StatusDocument } from '../documents/status.ts';

type Verdict = StatusDocument['verdict'];

/** What the webhook was told last, and what it is to be told: one row, shared by all processes. */
export const notices = etlSchema.table(
  'notices',
  {
    id: int4('id').primaryKey().default(1),
    /** When some process looked last: one of them does at a time. */
    looked_at: instant('looked_at').notNull(),
    /** As of when the verdict was seen last: an older one changes nothing. */
    as_of: instant('as_of'),
    seen: text('seen').$type<Verdict['kind']>(),
    seen_since: instant('seen_since'),
    number: integer('number').notNull().default(0),
    attempts: int4('attempts').notNull().default(0),
    /** Whoever tries has until then to say that it succeeded. */
    next_attempt_at: instant('next_attempt_at'),
    told: jsonb('told').$type<Verdict>(),
    told_at: instant('told_at'),
  },
  (table) => [check('notices_one_row', sql`${table.id} = 1`)],
);
