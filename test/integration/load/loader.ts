import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { transact, type Transaction } from '../../../src/db/transaction.ts';
import { decodeItem } from '../../../src/lists/decode.ts';
import { type OperationName, operations } from '../../../src/lists/registry.ts';
import { loadPages } from '../../../src/load/load.ts';
import type { CountsByPage } from '../../../src/load/upsert.ts';
import { sharedDatabase, untilLocked } from '../../harness/database.ts';

const chainId = 10;

/** A page as it was served, and the number of its observation: higher is newer. */
export interface ServedPage {
  readonly page_id: number;
  readonly items: readonly object[];
}

/** A database that the tests of a file share, and a chain for each of them. */
export function sharedPlaces(): () => { readonly pool: Pool; readonly chain: number } {
  const database = sharedDatabase();
  let chain = 0;
  return () => ({ pool: database.pool, chain: (chain += 1) });
}

/** Brings served pages of an operation into the tables, all in one transaction; what each added and changed. */
export const load = (
  pool: Pool,
  name: OperationName,
  pages: readonly ServedPage[],
  chain_id = chainId,
) => transact(drizzle(pool), (tx) => loadIn(tx, name, pages, chain_id));

/** The same, as part of a transaction. */
export async function loadIn(
  tx: Transaction,
  name: OperationName,
  pages: readonly ServedPage[],
  chain_id = chainId,
): Promise<CountsByPage> {
  const operation = operations[name];
  return loadPages(
    tx,
    operation,
    pages.map(({ page_id, items }) => ({
      page_id,
      rows: items.map((item, position) => {
        const decoded = decodeItem(operation.item, item);
        if (decoded.is === 'invalid') throw new Error(decoded.reason);
        return operation.normalise(decoded, { chain_id, page_id, scope: { batch: 1 }, position });
      }),
    })),
  );
}

/** Each of the pages in a transaction of its own, in the order given. */
export async function loadOneByOne(
  pool: Pool,
  name: OperationName,
  pages: readonly ServedPage[],
  chain_id = chainId,
): Promise<void> {
  for (const page of pages) await load(pool, name, [page], chain_id);
}

/** The last page while the transaction of those before it is open: it waits for what both bring. */
export async function loadBeside(
  pool: Pool,
  name: OperationName,
  pages: readonly ServedPage[],
  chain_id = chainId,
): Promise<void> {
  const [written, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const earlier = transact(drizzle(pool), async (tx) => {
    await loadIn(tx, name, pages.slice(0, -1), chain_id);
    written.resolve();
    await gate.promise;
  });
  await written.promise;
  const last = load(pool, name, pages.slice(-1), chain_id);
  await untilLocked(pool);
  gate.resolve();
  await Promise.all([earlier, last]);
}

const hex = (digits: number) => (n: number) => `0x${n.toString(16).padStart(digits, '0')}`;
/** A hash with a number in it. */
export const hashOf = hex(64);
/** An address with a number in it. */
export const addressOf = hex(40);

/** The stored values of some columns, sorted by all of them. */
export async function stored(
  pool: Pool,
  table: string,
  columns: string,
  chain_id = chainId,
): Promise<Record<string, unknown>[]> {
  const { rows } = await pool.query<Record<string, unknown>>(
    `select shown.* from (select ${columns} from explorer.${table} where chain_id = $1) as shown
     order by shown::text`,
    [chain_id],
  );
  return rows;
}
