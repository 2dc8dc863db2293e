import { drizzle } from 'drizzle-orm/node-postgres';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { openInWords } from '../../harness/findings.ts';
import { freshDatabase } from '../../harness/database.ts';
import { hashOf, listOperations, type ListedOperation } from '../../harness/listed-operations.ts';
import { lieBefore } from '../../harness/explorer.ts';
import { listedChain, runSync, type SyncRun } from '../../harness/sync.ts';

export const pageSize = 10;

/** One operation in each block of a range. */
export const oneEach = (from: number, to: number): ListedOperation[] =>
  Array.from({ length: to - from + 1 }, (_, place) => ({ block: from + place, id: from + place }));

/** A list of operations behind a service that can be made to lie, and a database that follows it. */
export async function lyingList(operations: ListedOperation[]) {
  const list = await listOperations(operations);
  const service = await lieBefore(list.url);
  const database = await freshDatabase();
  const sync = async (run: Partial<SyncRun> = {}) => {
    service.takeRequests();
    const settings = { chains: [listedChain], operations: ['user-operations'], pageSize };
    await runSync(database, { url: service.url, ...settings, ...run });
    return service.takeRequests();
  };
  const query = async (sql: string) => (await database.pool.query(sql)).rows;
  return {
    list,
    service,
    sync,
    query,
    /** What `verify` finds open. */
    open: async () => openInWords(await verifyFeeds(drizzle(database.pool))),
    /** What `verify` says is covered, as `from to to`. */
    covered: async () =>
      (await verifyFeeds(drizzle(database.pool))).flatMap((feed) =>
        feed.covered.map(({ from, to }) => `${from} to ${to}`),
      ),
    /** Operations that are listed and not stored, or stored in another block, or as removed. */
    lost: async (): Promise<number> => {
      const rows = await query(
        'select block_number, hash from explorer.user_operations where removed_at is null',
      );
      const held = new Set(rows.map(({ block_number, hash }) => `${block_number} ${hash}`));
      return list.operations.filter(({ block, id }) => !held.has(`${block} ${hashOf(id)}`)).length;
    },
  };
}
