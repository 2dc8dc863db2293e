import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { recountCoverage } from '../../src/status/verify.ts';

/** Makes coverage what a ledger says that a test has written or changed. */
export const recount = (pool: Pool) => recountCoverage(drizzle(pool));
