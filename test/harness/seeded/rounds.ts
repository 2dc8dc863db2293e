import { sql, type SQL } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { PgDatabase, PgDialect } from 'drizzle-orm/pg-core';
import { Client, type Pool } from 'pg';
import { createPool, urlWithSettings } from '../../../src/db/pool.ts';
import { feedName } from '../../../src/lists/feed.ts';
import type { Target } from '../../../src/lists/list.ts';
import { pruneLedger } from '../../../src/lists/prune.ts';
import type { Lane } from '../../../src/lists/tables.ts';
import { readCoverage, readStrips } from '../../../src/status/coverage.ts';
import { readRuns, readThroughput } from '../../../src/status/ledger.ts';
import { planFeeds } from '../../../src/status/plan.ts';
import { readStatus } from '../../../src/status/status.ts';
import { traceTerm } from '../../../src/status/trace.ts';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { configuredLanes, dueScope } from '../../../src/sync/feeds.ts';
import { syncOnce } from '../../../src/sync/once.ts';
import { openComposed } from '../engines.ts';
import { exploreSeeded, seededSettings, type Size } from './lists.ts';

/** A statement as Postgres ran it. */
export interface RunStatement {
  /** The file and function that contain it. */
  readonly from: string;
  readonly text: string;
  readonly ms: number;
  /** The node at the top of its plan. */
  readonly node: string;
  /** How many nodes its plan has, those within functions not counted. */
  readonly nodes: number;
  /** How many rows of each table it took from it, those that a filter threw away too. */
  readonly rows: ReadonlyMap<string, number>;
  /** Tables that it read from end to end. */
  readonly scanned: ReadonlySet<string>;
}

/** A node of a plan, as auto_explain has it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Schema?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/**
 * The URL of sessions that log the plan of each statement, within functions and triggers too.
 * Not timed by node, which would slow a scan of millions down. Needs a superuser.
 */
const explaining = (url: string) =>
  urlWithSettings(url, {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': 0,
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_verbose': 'on',
    'auto_explain.log_nested_statements': 'on',
    'auto_explain.log_format': 'json',
    'auto_explain.log_level': 'notice',
    client_min_messages: 'notice',
  });

/** Where in src/ a statement was run; what all statements pass through is left out. */
const frame = /at (?:async )?(?:(?<name>[\w.]+) \()?.*\/src\/(?<file>(?!db\/)[\w/-]+\.ts)/u;

function callerOf(stack: string | undefined): string {
  for (const line of stack?.split('\n') ?? []) {
    const { name, file } = frame.exec(line)?.groups ?? {};
    if (file !== undefined) return name === undefined ? file : `${file} ${name}`;
  }
  return 'elsewhere';
}

/** The function that runs a statement of its own: those of findings are named. */
function functionOf(text: string): string {
  if (text.includes('etl.raw_findings')) return 'etl.all_findings';
  return text.includes('etl.batch_findings') ? 'etl.findings_of_batches' : 'within a function';
}

/** Records each statement of this process that is run on a URL of `explaining`, until it is disposed of. */
function recordStatements() {
  const run: RunStatement[] = [];
  const callers = new Map<string, string>();
  const dialect = new PgDialect();
  const connect = Reflect.get(Client.prototype, 'connect') as () => unknown;
  const execute = Reflect.get(PgDatabase.prototype, 'execute') as (query: SQL) => unknown;
  // The stack of the query itself ends at the socket.
  Object.assign(PgDatabase.prototype, {
    execute(query: SQL) {
      const { sql: text } = dialect.sqlToQuery(query);
      if (!callers.has(text)) callers.set(text, callerOf(new Error('here').stack));
      return Reflect.apply(execute, this, [query]);
    },
  });
  Object.assign(Client.prototype, {
    connect(this: Client, ...args: []) {
      this.on('notice', ({ message = '' }) => {
        const [, ms, json] = /^duration: ([\d.]+) ms\s+plan:\n(.*)$/su.exec(message) ?? [];
        if (json === undefined) return;
        const explained = JSON.parse(json) as { 'Query Text': string; Plan: PlanNode };
        const { 'Query Text': text, Plan: plan } = explained;
        const from = callers.get(text) ?? functionOf(text);
        run.push({
          from,
          text,
          ms: Number(ms),
          node: plan['Node Type'],
          nodes: nodesOf(plan),
          ...readBy(plan),
        });
      });
      return Reflect.apply(connect, this, args);
    },
  });
  return {
    /** What was run since it was last taken. */
    take: () => run.splice(0),
    [Symbol.dispose]() {
      Object.assign(Client.prototype, { connect });
      Object.assign(PgDatabase.prototype, { execute });
    },
  };
}

const nodesOf = ({ Plans: below = [] }: PlanNode): number =>
  below.reduce((sum, node) => sum + nodesOf(node), 1);

/** How many rows of each table a plan took from it, those that a filter threw away too, and which it scanned. */
function readBy(plan: PlanNode) {
  const rows = new Map<string, number>();
  const scanned = new Set<string>();
  const visit = (at: PlanNode) => {
    const { 'Node Type': type, 'Relation Name': name, 'Actual Loops': loops } = at;
    if (loops === 0) return;
    if (name !== undefined && type.endsWith('Scan')) {
      const table = `${at.Schema}.${name}`;
      const removed =
        (at['Rows Removed by Filter'] ?? 0) + (at['Rows Removed by Index Recheck'] ?? 0);
      rows.set(table, (rows.get(table) ?? 0) + (at['Actual Rows'] + removed) * loops);
      if (type === 'Seq Scan') scanned.add(table);
    }
    at.Plans?.forEach(visit);
  };
  visit(plan);
  return { rows, scanned };
}

/** What the program did, and the statements that it took. */
export interface Round {
  readonly what: string;
  readonly ms: number;
  readonly statements: readonly RunStatement[];
}

/** What `backfill --from-block --to-block` asks for: a few blocks within the gap that a poll left. */
async function rangeInGap(pool: Pick<Pool, 'query'>): Promise<Target> {
  const { rows } = await pool.query<{ middle: number }>(
    `select (from_block + (to_block - from_block) / 2)::float8 as middle
     from explorer.gaps where operation = 'user-operations'
     order by from_block desc limit 1`,
  );
  const [gap] = rows;
  if (gap === undefined) throw new Error('the seeded list has no gap');
  return {
    lane: { chain_id: 10, operation: 'user-operations', lane: 'backfill' },
    scope: { from_block: gap.middle - 2, to_block: gap.middle + 2, at_once: true },
  };
}

/** What a user may have at hand: hashes, addresses and numbers of rows in the middle of the history. */
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

/** Makes the list one that served something else at a synthetic cursor just now. */
const misplaceEntry = `
  insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, state, reason, from_head)
  select chain_id, operation, lane, id, 'newest-first', '{"entry": {"height": 1, "key": "0x"}}',
         'finished', 'misplaced-entry', false
  from etl.runs where operation = 'user-operations' and lane = 'backfill' limit 1`;

/** A block in the middle of the history moves by so many batches. */
const moveBlock = (batches: number) => `
  update explorer.blocks set optimism_batch_number = optimism_batch_number + ${batches}
  where height = (
    select last_height from explorer.read_batches
    where is_verified and blocks_count > 1 order by batch_number offset 100 limit 1
  )`;

/** What analysts ask of completeness and of sums, which takes no longer the longer the history is. */
const completeness = [
  // docs/operating.md, "Statements that stay fast".
  `select userop_hash, fee_native from explorer.operations_enriched where block_time >= now() - interval '1 day' and block_time < now()`,
  'select * from explorer.operations_enriched where block_time is not null order by block_time desc limit 10',
  `select * from explorer.user_operations
   where chain_id in (select chain_id from explorer.chains) and hash = '0x00'`,
  'select * from explorer.operations_weekly',
  'select * from explorer.operations_monthly',
  'select * from explorer.fees_daily',
  'select * from explorer.cohorts',
  'select * from explorer.gaps',
  'select * from explorer.freshness',
  'select feed, from_block, to_block from explorer.coverage',
  'select * from explorer.optimism_batches where batch_number = 100',
];

/**
 * What people and schedules have the program do on a seeded database, one thing after the other: the reports, a poll
 * of each feed's live lane, what closes gaps, and the reports again.
 */
export async function goRound(seededUrl: string, size: Size, onRound: (round: Round) => void) {
  const url = explaining(seededUrl);
  using recorder = recordStatements();
  await using end = new AsyncDisposableStack();
  const pages = createPool({ url: seededUrl, max: 2, applicationName: 'explorer' });
  end.defer(() => pages.end());
  const explorer = await exploreSeeded(pages, size);
  end.defer(() => explorer.close());
  const settings = seededSettings(explorer.url);
  const pool = createPool({ url, max: 12, applicationName: 'explorer-etl' });
  end.defer(() => pool.end());
  const db = drizzle(pool);
  const own = { source: { sameData: true }, timeouts: { recheckMs: 0 } };
  const engine = await openComposed({ url, pool }, settings, own);
  end.defer(() => engine.close());
  const round = async (what: string, work: () => Promise<unknown>) => {
    recorder.take();
    const begin = performance.now();
    await work();
    const ms = performance.now() - begin;
    onRound({ what, ms, statements: recorder.take().filter(({ text }) => !/pgboss/u.test(text)) });
  };
  const lanes = configuredLanes(settings.chains);
  const feeds = new Set(lanes.map(({ lane }) => feedName(lane)));
  const { pageSize } = settings.explorer;
  const reports = async () => {
    await round('status', () => readStatus(db, pageSize));
    await round('plan', () => planFeeds(db, settings, { pageSize, at: new Date() }));
    await round('verify', () => verifyFeeds(db));
    await round('strips', () => readStrips(db, new Map()));
    await round('feeds of the page', async () => {
      for (const feed of feeds) {
        await readCoverage(db, { feed, from: null, to: null, cells: 240 });
        await readThroughput(db, { hours: 24, feed });
        await readRuns(db, { hours: 24, feed });
      }
    });
    // A copy that was edited by hand: the batches around are checked again.
    await pages.query(moveBlock(1));
    await round('views of completeness', async () => {
      for (const query of completeness) await db.execute(sql.raw(query));
    });
    await pages.query(moveBlock(-1));
    const things = await thingsAtHand(pool);
    await round('trace', async () => {
      for (const thing of things) await traceTerm(db, thing);
    });
  };
  await reports();
  await round('due', async () => {
    for (const target of lanes) await dueScope(db, target, 'schedule', engine.clock());
  });
  const { signal } = new AbortController();
  const work = (target: Target) => syncOnce([target], engine, signal);
  const lanesOf = async (name: Lane) => {
    for (const target of lanes.filter(({ lane }) => lane.lane === name)) {
      await round(`${name} lane of ${feedName(target.lane)}`, () => work(target));
    }
  };
  await lanesOf('live');
  const range = await rangeInGap(pool);
  await round('a range of blocks', () => work(range));
  await pool.query(misplaceEntry);
  const other = await rangeInGap(pool);
  await round('a range of blocks, without synthetic cursors', () => work(other));
  await pool.query(`delete from etl.walks where reason = 'misplaced-entry'`);
  await lanesOf('backfill');
  // The fewest days that a configuration may say, so that most of the history is old.
  await round('housekeeping', () => pruneLedger(db, 7, engine.clock(), signal));
  await reports();
}
