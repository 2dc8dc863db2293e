import { doublePrecision, text } from 'drizzle-orm/pg-core';
import { etlSchema, instant, integer } from '../db/column-types.ts';

export const budget = etlSchema.table('budget', {
  key_fingerprint: text('key_fingerprint').primaryKey(),
  requests_per_second: doublePrecision('requests_per_second').notNull(),
  next_at: instant('next_at').notNull(),
  credits_remaining: integer('credits_remaining'),
  paused_until: instant('paused_until'),
  requests: integer('requests').notNull().default(0),
  updated_at: instant('updated_at').notNull().defaultNow(),
});
