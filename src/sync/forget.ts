import { sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { tableName } from '../db/column-types.ts';
import { execute, type Database, transact, type Transaction } from '../db/transaction.ts';
import { events } from '../db/tables.ts';
import { type Feed, feedName, ofFeed } from '../lists/feed.ts';
import { operations } from '../lists/registry.ts';
import { recomputeSums } from '../rollups/roll.ts';
import { dropUnreadHosts } from './feeds.ts';
import { lockFeed } from './runs.ts';
import { workersPresent } from './workers.ts';
import { z } from 'zod';

/** Tables of schema `etl` with rows of a feed; those that refer to others first. */
const bookkeeping = [
  'quarantine',
  'drift',
  'always_present_fields',
  'late_arrivals',
  'rankings',
  'pages',
  'walks',
  'runs',
  'coverage',
  'batch_coverage',
  'pruned',
] as const;

const named = (table: PgTable) => sql.raw(tableName(table));

const rowTables = ({ operation }: Feed) => operations[operation].tables.map(named);

/** How much is stored of a feed: pages of its ledger, and rows of the tables that it alone writes. */
export function storedOf(db: Database, feed: Feed) {
  const counts = rowTables(feed).map(
    (table) => sql`(select count(*) from ${table} where chain_id = ${feed.chain_id})`,
  );
  return execute(db).one(() => z.object({ pages: z.number(), rows: z.number() }))`
    select (select count(*) from etl.pages where ${ofFeed(feed)})::float8 as pages,
           (${sql.join(counts, sql` + `)})::float8 as rows
  `;
}

/** Deletes what is known of the reading of a feed. A worker that goes on finds its walk gone, and writes nothing. */
async function deleteBookkeeping(tx: Transaction, feed: Feed): Promise<void> {
  await tx.execute(sql`
    update etl.walks set state = 'abandoned', revision = revision + 1
    where ${ofFeed(feed)} and state = 'running'
  `);
  await tx.execute(sql`
    delete from etl.ranking_entries
    where walk_id in (select id from etl.walks where ${ofFeed(feed)})
  `);
  await tx.execute(sql`
    delete from etl.batch_observations
    where chain_id = ${feed.chain_id} and operation = ${feed.operation}
  `);
  for (const table of bookkeeping) {
    await tx.execute(sql`delete from ${sql.raw(`etl.${table}`)} where ${ofFeed(feed)}`);
  }
  // What the blocks of each number verify is evidence too.
  const list = operations[feed.operation];
  if (!('batches' in list)) return;
  await tx.execute(
    sql`delete from ${named(list.batches.states)} where chain_id = ${feed.chain_id}`,
  );
  await deleteEdits(tx, feed);
}

/** Deletes the notes of what was deleted before. */
const deleteEdits = (tx: Transaction, { chain_id, operation }: Feed) =>
  tx.execute(sql`
  delete from etl.edited_batches where chain_id = ${chain_id} and operation = ${operation}
`);

/** Keeps a feed's lanes and runs as they are meanwhile: its lanes first, as those who open a run that is due do. */
async function lockWanted(tx: Transaction, feed: Feed): Promise<void> {
  await tx.execute(sql`select from etl.lanes where ${ofFeed(feed)} order by lane for update`);
  await lockFeed(tx, feed);
}

const note = (tx: Transaction, feed: Feed, sentence: string) =>
  tx.insert(events).values({ kind: 'command', feed: feedName(feed), sentence });

/** Has a feed read again from nothing: its rows stay, and its lanes are due at once. */
export const resetFeed = (db: Database, feed: Feed): Promise<void> =>
  transact(db, async (tx) => {
    await lockWanted(tx, feed);
    await tx.execute(sql`
      update etl.feeds
      set rows_before = rows_before + coalesce(
            (select sum(inserted) from etl.coverage where ${ofFeed(feed)}), 0
          ),
          failure = null, reason = null, latest_batch = null, last_success_at = null, since_doubted_at = null,
          poll_again_at = null, reset_at = now(), updated_at = now()
      where ${ofFeed(feed)}
    `);
    await deleteBookkeeping(tx, feed);
    await tx.execute(sql`
      update etl.lanes set requested_at = clock_timestamp(), due_at = null, stopped_at = null where ${ofFeed(feed)}
    `);
    await note(tx, feed, 'Reset by a person: it is read again from nothing.');
  });

/** A deployment at work, a command's too, that wants a feed; null: there is none. */
export const wantedBy = (db: Pick<Database, 'execute'>, feed: Feed) =>
  execute(db).value(z.string)`
    select deployment from (${workersPresent}) as present
    where deployment in (select unnest(wanted_by) from etl.lanes where ${ofFeed(feed)})
    order by deployment limit 1
  `;

/** Forgets a feed; its rows stay unless `withRows`. Returns the deployment at work that wants it, so that it stays, or null. */
export const forgetFeed = (db: Database, feed: Feed, withRows: boolean): Promise<string | null> =>
  transact(db, async (tx) => {
    await lockWanted(tx, feed);
    const deployment = await wantedBy(tx, feed);
    if (deployment !== null) return deployment;
    await deleteBookkeeping(tx, feed);
    await tx.execute(sql`delete from etl.lanes where ${ofFeed(feed)}`);
    await tx.execute(sql`delete from etl.feeds where ${ofFeed(feed)}`);
    await dropUnreadHosts(tx);
    const how = withRows ? 'with its rows' : 'without its rows';
    await note(tx, feed, `Forgotten by a person, ${how}.`);
    if (!withRows) return null;
    for (const table of rowTables(feed)) {
      await tx.execute(sql`delete from ${table} where chain_id = ${feed.chain_id}`);
    }
    await deleteEdits(tx, feed);
    await recomputeSums(tx);
    return null;
  });
