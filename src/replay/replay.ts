import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool, PoolClient } from 'pg';
import type { ScratchDatabase } from './scratch.ts';
import { Replay, type Replayed } from './rewrite.ts';
import {
  adopt,
  columnsOf,
  comparedTables,
  differences,
  digestTables,
  type ComparedTable,
  type RowDifference,
  type Sides,
  type TableDigest,
} from './compare.ts';
import { inTransaction } from '../db/session.ts';
import { rollUpAnew } from '../rollups/roll.ts';
import { correctLedger } from '../rows/damage.ts';
import { operationNames, operations } from '../operations/index.ts';
import { countedTables } from '../rows/check.ts';

/** What a replay is to be used for: nothing, to see each difference, or to take it over. */
export type ReplayUse = 'digests' | 'diff' | 'apply';

/** A table as it is, and as the archive makes it. */
export interface ReplayedTable {
  readonly table: string;
  readonly present: TableDigest;
  readonly replayed: TableDigest;
}

export interface ReplayReport extends Replayed {
  /** Pages of the ledger whose bodies are not in the archive. */
  readonly missing: number;
  readonly tables: readonly ReplayedTable[];
  /** Rows that were taken over; 0 unless asked for. */
  readonly applied: number;
}

export interface ReplayOptions {
  readonly use: ReplayUse;
  readonly onProgress: (so: Replayed) => void;
  /** Called for each row that differs, where differences were asked for. */
  readonly onDifference: (difference: RowDifference) => void;
}

/** The archive does not hold all pages, so what it makes must not replace what is there. */
export class IncompleteArchiveError extends Error {
  override readonly name = 'IncompleteArchiveError';
}

/** A repair of what a trigger wrote on the way takes a second round, and none a third. */
const mostRounds = 3;

/**
 * Rebuilds the tables of schema `explorer` from the archive in a scratch database, and holds them
 * against those that are there. While they are compared no page is committed; until then workers go
 * on, and what they archive meanwhile is replayed too.
 *
 * @throws IncompleteArchiveError when it is to be applied and pages are missing
 */
export async function replayArchive(
  pool: Pool,
  scratch: ScratchDatabase,
  { use, onProgress, onDifference }: ReplayOptions,
  signal: AbortSignal,
): Promise<ReplayReport> {
  const source = drizzle(pool);
  await copyFeeds(pool, scratch.pool);
  const replay = new Replay(scratch.db);
  await replay.catchUp(source, onProgress, signal);
  signal.throwIfAborted();
  return inTransaction(pool, async (present) => {
    // Who commits a page, or retries an item, locks its walk's row first.
    await present.query('lock table etl.walks in exclusive mode');
    const replayed = await replay.catchUp(drizzle(present), onProgress, signal);
    const missing = await missingPages(present);
    if (use === 'apply' && missing > 0) throw incomplete(missing);
    const tables = await comparedTables(present);
    return inTransaction(scratch.pool, async (rebuilt) => {
      const sides: Sides = { present, replayed: rebuilt };
      const compared = await compareTables(sides, tables);
      const differing = tables.filter((_, index) => differs(compared[index]));
      if (use === 'diff') {
        for (const table of differing) {
          for await (const row of differences(sides, table)) onDifference(row);
        }
      }
      const applied = use === 'apply' ? await adoptAll(sides, present, tables) : 0;
      return { ...replayed, missing, tables: compared, applied };
    });
  });
}

/** Whether a table would be another after the replay. */
export const differs = (table: ReplayedTable | undefined): boolean =>
  table !== undefined && table.present.digest !== table.replayed.digest;

const incomplete = (missing: number) =>
  new IncompleteArchiveError(
    `${missing} pages of the ledger are not in the archive: what it makes is not all there is, and is not applied.`,
  );

async function compareTables(
  { present, replayed }: Sides,
  tables: readonly ComparedTable[],
): Promise<ReplayedTable[]> {
  const [ours, theirs] = await Promise.all([
    digestTables(present, tables),
    digestTables(replayed, tables),
  ]);
  return ours.flatMap((digest, index) => {
    const other = theirs[index];
    return other === undefined ? [] : [{ table: digest.table, present: digest, replayed: other }];
  });
}

async function adoptAll(
  sides: Sides,
  present: PoolClient,
  tables: readonly ComparedTable[],
): Promise<number> {
  let total = 0;
  for (let round = 0; round < mostRounds; round += 1) {
    let count = 0;
    for (const table of tables) count += await adopt(sides, table);
    if (round === 0) total = count;
    if (count === 0) {
      // Each row was held against the archive: what is there now is what there should be.
      for (const table of countedTables) await correctLedger(drizzle(present), table);
      // Rows came with the times that they had, and others went.
      await rollUpAnew(drizzle(present));
      return total;
    }
  }
  throw new Error('the tables do not become what the archive makes them');
}

async function missingPages(session: PoolClient): Promise<number> {
  const { rows } = await session.query<{ missing: number }>(
    `select (
       (select coalesce(sum(pages), 0) from etl.thinnings) + (
         select count(*) from etl.pages
         where not exists (select from etl.raw_pages where page_id = id)
       )
     )::float8 as missing`,
  );
  return rows[0]?.missing ?? 0;
}

/** What pages lean on and none of them wrote: chains, feeds and runs. */
async function copyFeeds(from: Pool, to: Pool): Promise<void> {
  // A walk that was set aside after its last page is not told from one under way.
  await to.query('drop index etl.walks_one_running');
  // A feed that is registered meanwhile is not copied; its pages are rebuilt all the same.
  await to.query(
    'alter table etl.feeds drop constraint feeds_pkey cascade, add primary key (feed)',
  );
  // For people's questions alone: nothing that is concluded goes by them.
  const indexes = operationNames.flatMap((name) => operations[name].questionIndexes);
  await to.query(`drop index ${indexes.join(', ')}`);
  for (const table of ['explorer.chains', 'etl.feeds', 'etl.runs']) {
    const { rows } = await from.query<{ columns: string[]; rows: string }>(
      `select ${columnsOf(`'${table}'::regclass`)} as columns,
              (select coalesce(jsonb_agg(t), '[]')::text from ${table} as t) as rows`,
    );
    const columns = (rows[0]?.columns ?? []).map((column) => `"${column}"`).join(', ');
    await to.query(
      `insert into ${table} (${columns})
       select ${columns} from json_populate_recordset(null::${table}, $1)`,
      [rows[0]?.rows],
    );
  }
}
