import { date, doublePrecision, text } from 'drizzle-orm/pg-core';
import { etlSchema, instant, integer } from '../db/column-types.ts';

/** Explorers that fail now: a row is a fact about all their feeds, and goes with the first answer. */
export const hosts = etlSchema.table('hosts', {
  origin: text('origin').primaryKey(),
  failing_since: instant('failing_since').notNull(),
  failure: text('failure').notNull(),
  reason: text('reason').notNull(),
  /** The worker that moves it sends the next request, alone. */
  next_try_at: instant('next_try_at').notNull(),
});

export const budget = etlSchema.table('budget', {
  key_fingerprint: text('key_fingerprint').primaryKey(),
  requests_per_second: doublePrecision('requests_per_second').notNull(),
  next_at: instant('next_at').notNull(),
  /** When the last queued backfill request has its turn. */
  queue_at: instant('queue_at'),
  /** What the service's headers last stated. */
  service_limit: doublePrecision('service_limit'),
  daily_credits: integer('daily_credits'),
  credits_day: date('credits_day'),
  credits_spent: integer('credits_spent').notNull().default(0),
  credits_remaining: integer('credits_remaining'),
  paused_until: instant('paused_until'),
  pause_class: text('pause_class'),
  pause_reason: text('pause_reason'),
  requests: integer('requests').notNull().default(0),
  /** When it last gave a slot. */
  updated_at: instant('updated_at').notNull().defaultNow(),
});
