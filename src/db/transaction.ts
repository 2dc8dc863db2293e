import type { NodePgDatabase } from 'drizzle-orm/node-postgres';

/** The database as drizzle drives it. */
export type Database = NodePgDatabase;

/** One open transaction; what is written through it commits or rolls back whole. */
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0];
