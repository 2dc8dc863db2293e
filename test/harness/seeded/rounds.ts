import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { prepareDatabase } from '../../../src/app.ts';
import type { Settings } from '../../../src/config/settings.ts';
import { createPool } from '../../../src/db/pool.ts';
import type { Database } from '../../../src/db/transaction.ts';
import { feedName } from '../../../src/lists/feed.ts';
import { pruneLedger } from '../../../src/lists/prune.ts';
import { readCoverage, readStrips } from '../../../src/status/coverage.ts';
import { planFeeds } from '../../../src/status/plan.ts';
import { readRuns, readThroughput } from '../../../src/status/ledger.ts';
import { readStatus } from '../../../src/status/status.ts';
import { traceTerm } from '../../../src/status/trace.ts';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { syncOnce, type SyncTarget } from '../../../src/sync/once.ts';
import { configuredLanes, dueLanes } from '../../../src/sync/targets.ts';
import { opened } from '../database.ts';
import { openComposed } from '../sync.ts';
import type { Recorder, RunStatement } from './recorder.ts';

/** What the program did, and the statements that it took. */
export interface Round {
  readonly what: string;
  readonly ms: number;
  readonly statements: readonly RunStatement[];
}

/** The least that a configuration may say: so most of the history is old. */
const ledgerDays = 7;

/** What `backfill --from-block --to-block` asks for: a few blocks within the gap that a poll left. */
async function rangeInGap(pool: Pick<Pool, 'query'>, chain: number): Promise<SyncTarget> {
  const { rows } = await pool.query<{ middle: number }>(
    `select (from_block + (to_block - from_block) / 2)::float8 as middle
     from explorer.gaps where chain_id = $1 and operation = 'user-operations'
     order by from_block desc limit 1`,
    [chain],
  );
  const [gap] = rows;
  if (gap === undefined) throw new Error('the seeded list has no gap');
  return {
    lane: { chain_id: chain, operation: 'user-operations', lane: 'backfill' },
    scope: { from_block: gap.middle - 2, to_block: gap.middle + 2, at_once: true },
  };
}

/** What the page draws of each feed beside its status. */
async function readFeedPages(db: Database, feeds: readonly string[]): Promise<void> {
  for (const feed of feeds) {
    await readCoverage(db, { feed, from: null, to: null, cells: 240 });
    await readThroughput(db, { hours: 24, feed });
    await readRuns(db, { hours: 24, feed });
  }
}

/** What somebody may have at hand: hashes, addresses and numbers of rows in the middle of the history. */
async function thingsAtHand(pool: Pick<Pool, 'query'>): Promise<readonly string[]> {
  const { rows } = await pool.query<{ thing: string }>(
    `with op as (select * from explorer.user_operations order by hash limit 1)
     select unnest(array[hash, transaction_hash, address_hash, block_number::text]) as thing from op
     union all (select hash from explorer.blocks order by hash limit 1)
     union all (select address_hash from explorer.factories limit 1)
     union all (select batch_number::text from explorer.read_batches limit 1)`,
  );
  return rows.map(({ thing }) => thing);
}

/** Makes the list one that served something else at a synthetic cursor just now. @returns the walk that says so */
async function doubtPositions(pool: Pick<Pool, 'query'>, chain: number): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, state, reason, from_head)
     select chain_id, operation, lane, id, 'newest-first', '{"entry": {"height": 1, "key": "0x"}}', 'finished', 'misplaced-entry', false
     from etl.runs where chain_id = $1 and operation = 'user-operations' and lane = 'backfill'
     limit 1
     returning id`,
    [chain],
  );
  const [walk] = rows;
  if (walk === undefined) throw new Error('the seeded list was never read');
  return walk.id;
}

/**
 * What people and schedules have the program do, one thing after the other: the reports, a poll of each
 * feed's live lane, what closes gaps, and the reports again.
 */
export async function goRound(
  { url, settings, recorder }: { url: string; settings: Settings; recorder: Recorder },
  onRound: (round: Round) => void,
): Promise<void> {
  const pool = createPool({ url, max: 12, applicationName: 'explorer-etl' });
  const db = drizzle(pool);
  const round = async (what: string, work: () => Promise<unknown>) => {
    recorder.take();
    const begin = performance.now();
    await work();
    const ms = performance.now() - begin;
    onRound({ what, ms, statements: recorder.take().filter(({ text }) => !/pgboss/u.test(text)) });
  };
  const feeds = [...new Set(configuredLanes(settings.chains).map(({ lane }) => feedName(lane)))];
  const { pageSize } = settings.explorer;
  const reports = async () => {
    await round('status', () => readStatus(db, pageSize));
    await round('plan', () => planFeeds(db, settings.chains, { pageSize, at: new Date() }));
    await round('verify', () => verifyFeeds(db));
    await round('strips', () => readStrips(db, new Map()));
    await round('feeds of the page', () => readFeedPages(db, feeds));
    const things = await thingsAtHand(pool);
    await round('trace', async () => {
      for (const thing of things) await traceTerm(db, thing);
    });
  };
  try {
    await prepareDatabase(opened({ url, pool }));
    await reports();
    const own = { source: { sameData: true }, timeouts: { recheckMs: 0 } };
    const engine = await openComposed({ url, pool }, settings, own);
    try {
      const lanes = configuredLanes(settings.chains);
      const live = lanes.filter(({ lane }) => lane.lane === 'live');
      const others = lanes.filter(({ lane }) => lane.lane !== 'live');
      await round('due', () => dueLanes(db, lanes, 'schedule', engine.clock()));
      const work = (target: SyncTarget) => syncOnce([target], engine, new AbortController().signal);
      for (const target of live) {
        await round(`live lane of ${feedName(target.lane)}`, () => work(target));
      }
      const range = await rangeInGap(pool, 10);
      await round(`a range of blocks of ${feedName(range.lane)}`, () => work(range));
      const doubt = await doubtPositions(pool, 8453);
      const other = await rangeInGap(pool, 8453);
      await round(`a range of blocks of ${feedName(other.lane)}, without synthetic cursors`, () =>
        work(other),
      );
      await pool.query('delete from etl.walks where id = $1', [doubt]);
      for (const target of others) {
        const { lane } = target;
        await round(`${lane.lane} lane of ${feedName(lane)}`, () => work(target));
      }
      await round('housekeeping', () =>
        pruneLedger(db, ledgerDays, engine.clock(), new AbortController().signal),
      );
    } finally {
      await engine.close();
    }
    await reports();
  } finally {
    await pool.end();
  }
}
