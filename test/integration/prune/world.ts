import { drizzle } from 'drizzle-orm/node-postgres';
import { pruneLedger } from '../../../src/lists/prune.ts';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { readFeeds } from '../../../src/status/facts.ts';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { listOperations, type ListedOperation } from '../../harness/listed-operations.ts';
import { listedChain, runSync, type SyncRun } from '../../harness/sync.ts';

/** One operation in every block from 1 to `blocks`. */
export const oneEach = (blocks: number): ListedOperation[] =>
  Array.from({ length: blocks }, (_, index) => ({ block: index + 1, id: index + 1 }));

/** A list that a test keeps, and a ledger that can be made old. */
export async function listWorld(blocks: number, run: Partial<SyncRun> = {}) {
  const list = await listOperations(oneEach(blocks));
  const database = await freshDatabase();
  const sync = async (times = 1) => {
    for (let time = 0; time < times; time += 1) {
      await runSync(database, {
        url: list.url,
        chains: [listedChain],
        operations: ['user-operations'],
        pageSize: 10,
        resweep: [],
        ...run,
      });
    }
    return list.takeRequests();
  };
  return { list, database, sync, ...ledgerOf(database) };
}

/** What housekeeping does with a database, and what is to be the same before and after. */
export function ledgerOf(database: TestDatabase) {
  const db = drizzle(database.pool);
  const query = async (sql: string) => (await database.pool.query(sql)).rows;
  return {
    db,
    query,
    prune: (days = 30, signal = new AbortController().signal) =>
      pruneLedger(db, days, new Date(), signal),
    /** Makes all that has ended so much older. */
    age: async (days: number) => {
      const by = `interval '${days} days'`;
      await query(`
        update etl.walks set started_at = started_at - ${by}, finished_at = finished_at - ${by}
        where state <> 'running';
        update etl.runs set opened_at = opened_at - ${by}, closed_at = closed_at - ${by}
        where state <> 'open';
        update etl.raw_pages set stored_at = stored_at - ${by};
      `);
    },
    walks: async () =>
      (await query('select count(*)::int as walks from etl.walks'))[0] as { walks: number },
    /** All that people read of what is verified, what is there, and what it cost. */
    reported: async () => ({
      verified: await verifyFeeds(db),
      status: (await readFeeds(db)).map(({ shown, ...rest }) => untimed({ ...shown, ...rest })),
      coverage: await query('select * from explorer.coverage order by feed, from_block'),
      gaps: await query('select * from explorer.gaps order by feed, from_block'),
      freshness: await query(
        'select chain_id, operation, newest_block, newest_at, covered_to from explorer.freshness order by 1, 2',
      ),
      kept: await query('select * from etl.feed_coverage order by feed'),
      totals: await query(
        'select feed, lane, pages, inserted, credits, spanned_items, spanned_blocks from etl.coverage order by 1, 2',
      ),
      late: await query('select * from etl.late_arrivals order by feed, key'),
      provenance: await provenance(query),
    }),
  };
}

/** Ages count on while a test runs, and estimates go by them. */
const untimed = (values: object) =>
  Object.fromEntries(
    Object.entries(values).filter(([name]) => !/_age_s$|^lag_s$|^facts$/u.test(name)),
  );

/** Where each row came from: table, key, and the page with its walk; a page that is gone is null. */
async function provenance(query: (sql: string) => Promise<unknown[]>) {
  const tables = [
    'user_operations',
    'addresses',
    'address_implementations',
    'address_metadata_tags',
    'address_labels',
    'blocks',
    'block_rewards',
    'read_batches',
    'listed_batches',
  ];
  const rows = await query(`
    select row, page_id, (select to_jsonb(pages.*) from etl.pages where id = page_id) as page
    from (
      ${tables
        .map(
          (table) =>
            `select '${table}' as "table", to_jsonb(t) as row, page_id from explorer.${table} as t`,
        )
        .join(' union all ')}
      union all select 'late', to_jsonb(t), page_id from etl.late_arrivals as t
      union all select 'quarantine', to_jsonb(t), coalesce(last_page_id, page_id) from etl.quarantine as t
      union all select 'drift', to_jsonb(t), first_page_id from etl.drift as t
      union all select 'always present', to_jsonb(t), page_id from etl.always_present_fields as t
    ) as held
    where page_id is not null
    order by "table", row::text
  `);
  return rows as { row: object; page_id: string; page: object | null }[];
}
