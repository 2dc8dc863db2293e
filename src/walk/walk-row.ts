import type { InferSelectModel } from 'drizzle-orm';
import type { walks } from './tables.ts';

/** A walk as stored: what it covers, how far it came, and the revision that fences it. */
export type WalkRow = InferSelectModel<typeof walks>;
