import { pruneLedger } from '../../../src/lists/prune.ts';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { readFeeds } from '../../../src/status/facts.ts';
import { followLists, type SyncRun } from '../../harness/sync.ts';
import type { OpenDatabase } from '../../harness/database.ts';
import { oneEach } from '../../harness/kept.ts';

/** A list of an operation in every block from 1 to `blocks`, and a ledger that can be made old. */
export async function listWorld(blocks: number, run: Partial<SyncRun> = {}) {
  const operations = oneEach(1, blocks);
  const copy = await followLists({ operations }, { pageSize: 10, resweep: [], ...run });
  const sync = async (times = 1) => {
    let requests = 0;
    for (let time = 0; time < times; time += 1) requests += (await copy.sync()).requests;
    return requests;
  };
  return { ...copy, ...ledgerOf(copy.database), sync };
}

/** What housekeeping does with a database, and what is to be the same before and after. */
export function ledgerOf(database: OpenDatabase) {
  const { db, query } = database;
  return {
    db,
    query,
    prune: (days = 30, signal = new AbortController().signal) =>
      pruneLedger(db, days, new Date(), signal),
    /** Makes all that has ended so much older. */
    age: async (days: number) => {
      const by = `interval '${days} days'`;
      await query(`
        update etl.walks
        set started_at = started_at - ${by}, as_of = as_of - ${by}, finished_at = finished_at - ${by}
        where state <> 'running';
        update etl.runs set opened_at = opened_at - ${by}, closed_at = closed_at - ${by}
        where state <> 'open';
        update etl.raw_pages set stored_at = stored_at - ${by};
      `);
    },
    walks: async (): Promise<{ walks: number }> =>
      (await query('select count(*)::int as walks from etl.walks'))[0],
    /** All that people read of what is verified, what is there, and what it cost. */
    reported: async () => ({
      verified: await verifyFeeds(db),
      status: (await readFeeds(db)).map(({ shown, poll, ...rest }) =>
        untimed({ ...shown, ...rest, polled_at: poll.last_at }),
      ),
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
      lost: await lostPages(query),
    }),
  };
}

/** Ages count on while a test runs, and estimates go by them. */
const untimed = (values: object) =>
  Object.fromEntries(
    Object.entries(values).filter(([name]) => !/_age_s$|^lag_s$|^facts$/u.test(name)),
  );

/** Of each column that names a page: how many rows name one that is gone. */
async function lostPages(query: OpenDatabase['query']) {
  const columns = await query(`
    select format('%I.%I', table_schema, table_name) as "table", column_name as "column"
    from information_schema.columns
    join information_schema.tables using (table_catalog, table_schema, table_name)
    where table_type = 'BASE TABLE' and table_schema in ('explorer', 'etl')
      and column_name like '%page\\_id'
  `);
  const lost = columns.map(
    ({ table, column }) =>
      `select '${table}' as "table", '${column}' as "column" from ${table}
       where ${column} is not null and ${column} not in (select id from etl.pages)`,
  );
  return query(lost.join(' union all '));
}
