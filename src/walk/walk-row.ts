import type { InferSelectModel } from 'drizzle-orm';
import type { walks } from './tables.ts';

/** A walk as stored: what it covers, how far it came, and the revision that fences it. */
export type WalkRow = InferSelectModel<typeof walks>;

/** A walk as a worker took it. */
export interface HeldWalk extends WalkRow {
  /** That of the server when it was taken: after a crash the worker holds it no longer. */
  readonly incarnation: string;
}
