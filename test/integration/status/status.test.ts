import { expect, test } from 'vitest';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { statusDocument } from '../../../src/status/schema.ts';
import { readStatus, statusNow, statusOrOutage } from '../../../src/status/status.ts';
import { recountCoverage } from '../../../src/status/verify.ts';
import { databaseAt, freshDatabase } from '../../harness/database.ts';
import { reports, scene, seed, statesOf } from './reports.ts';
import { openCopied, shortChain } from '../../harness/sync.ts';

/** A chain whose newest items are of the last hours, as those of a live chain are. */
const lately = { startsAtMs: Date.now() - 2 * 3_600_000 };

/** A copy that is whole. */
async function copied(changes: Partial<SimulatedChain> = lately) {
  const copy = await openCopied({ ...shortChain, ...changes }, { seed });
  return { ...copy, ...reports(copy.database) };
}

test.each(['migrated', 'empty'] as const)('a %s database has a status', async (how) => {
  const { pool, query } = await freshDatabase(how);
  const { codes, status } = reports({ pool });
  expect(await codes()).toEqual(['stopped', 'pending']);
  expect((await status()).overall).toMatchObject({
    sentence: 'Nothing is stored yet.',
    command: 'explorer-etl sync',
  });
  const rows = await query(`select to_regclass('etl.feeds') is not null as has_tables`);
  expect(rows).toEqual([{ has_tables: how === 'migrated' }]);
});

test('a database that refuses one statement is reported with its error, not as stopped', async () => {
  const { database, query } = await copied();
  await query('alter table etl.budget rename to budget_away');
  const refused = statusDocument.parse(await statusOrOutage(async () => database.pool, 50));
  expect(refused.overall.state).toBe('action-required');
  expect(refused.overall.sentence).toContain('does not exist (42P01)');
  expect(refused.reasons).toMatchObject([{ code: 'database-failing', blocks_readiness: true }]);
});

test('a copy that sync made is healthy while it is a day old, without a worker', async () => {
  const { codes, status, query } = await copied();
  expect(await codes()).toEqual(['healthy']);
  const { feeds, workers, totals, overall } = await status();
  expect(overall.sentence).toBe('All feeds are current and complete.');
  expect(workers).toEqual({ start: 0, once: 0 });
  expect(
    feeds.map(({ operation, state, verified: { share } }) => [operation, state, share]),
  ).toEqual([
    ['user-operations', 'current', 1],
    ['optimism-batch-blocks', 'current', 1],
    ['factories', 'current', 1],
  ]);
  expect(totals).toMatchObject({ rows_today: totals.rows, verified_share: 1 });
  expect(totals.rows).toBeGreaterThan(200);
  expect(feeds.map(({ verified: { positions } }) => positions > 0)).toEqual([true, true, true]);

  await query(`update etl.runs set opened_at = opened_at - interval '3 days'`);
  await query(`update etl.coverage set last_page_at = last_page_at - interval '3 days'`);
  expect(await codes()).toEqual(['stopped', 'no-worker']);
  const late = await status();
  expect(late.overall.sentence).toMatch(
    /^No worker. No page since \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/u,
  );
  expect(statesOf(late)[0]).toEqual(['user-operations', 'behind']);
});

test('a list that is partly read has the time down to which nothing is missing', async () => {
  const { query, sync, status } = await scene(lately);
  const reachedAt = async () => (await status()).feeds[0]?.progress.reached_at ?? null;
  await sync({ maxPages: 1 });
  const rows = await query(
    'select timestamp as time from explorer.user_operations where timestamp is not null order by 1',
  );
  const stored = rows.map(({ time }) => time.toISOString());
  const reached = new Date((await reachedAt()) ?? 0).toISOString();
  // The last item of a page may not be the last of its block.
  expect(stored.slice(0, 3)).toContain(reached);
  await sync();
  expect(await reachedAt()).toBeNull();
});

test('rows of today are those since midnight, even of walks that began before', async () => {
  const { status, query } = await copied();
  const today = async () => (await status()).feeds.map(({ rows_today }) => rows_today);
  const rows = (await status()).feeds.map((feed) => feed.rows);
  expect(await today()).toEqual(rows);
  await query(`update etl.walks set started_at = started_at - interval '2 days'`);
  expect(await today()).toEqual(rows);
  await query(
    `update etl.pages set fetched_at = fetched_at - interval '1 day' where feed = '10/user-operations'`,
  );
  expect(await today()).toEqual([0, ...rows.slice(1)]);
});

test('a source without new items is degraded, however recent the last poll', async () => {
  const threeYears = 3 * 365 * 86_400_000;
  const { codes, status } = await copied({ startsAtMs: Date.now() - threeYears });
  expect(await codes()).toEqual(['degraded', 'source-silent']);
  const found = await status();
  expect(statesOf(found)).toEqual([
    ['user-operations', 'behind'],
    // Bounded, or in no order of time.
    ['optimism-batch-blocks', 'current'],
    ['factories', 'current'],
  ]);
  expect(found.feeds[0]?.newest_item).toMatchObject({ is_met: false, limit_s: 21_600 });
  expect(found.overall.sentence).toMatch(
    /^10\/user-operations: No new items for (2y 364d|3y)[^;]*; usually one every \d+s\.$/u,
  );
});

test.each(['2099-01-01T00:00:00Z', '1970-01-01T00:00:00Z'])(
  'a newest item of %s alone changes no state',
  async (wrong) => {
    const wronged = async (changes?: Partial<SimulatedChain>) => {
      const made = await copied(changes);
      await made.query(
        `update explorer.user_operations set timestamp = $1
         where hash = (select hash from explorer.user_operations order by block_number desc, hash desc limit 1)`,
        [wrong],
      );
      return made.codes();
    };
    expect(await wronged()).toEqual(['healthy']);
    expect(await wronged({ startsAtMs: Date.now() - 30 * 86_400_000 })).toEqual([
      'degraded',
      'source-silent',
    ]);
  },
);

/** So many batches of a month ago. */
const oldBatches = (count: number) => ({
  batches: { first: 1, count, blocks: 20 },
  userOperations: 0,
  startsAtMs: Date.now() - 30 * 86_400_000,
});

test('a bounded range of old batches is not silent, even if one of them is missing', async () => {
  const { codes, db, query } = await copied(oldBatches(12));
  await query('delete from explorer.read_batches where batch_number = 6');
  await recountCoverage(db);
  expect(await codes()).toEqual(['degraded', 'gap']);
});

test('lists of batches that are followed are silent if no batch is added', async () => {
  const { sync, status } = await scene(oldBatches(51));
  const operations = ['optimism-batches', 'optimism-batch-blocks'];
  await sync({ operations, isRangeGiven: false });
  const { overall, reasons } = await status();
  expect(overall.state).toBe('degraded');
  expect(reasons).toMatchObject([
    { code: 'source-silent', feeds: operations.map((operation) => `10/${operation}`) },
  ]);
});

test('a deleted row of explorer.chains hides no feed', async () => {
  const { status, query } = await copied();
  await query('delete from explorer.chains');
  const names = (await status()).feeds.map(({ chain_name }) => chain_name);
  expect(names).toEqual(['chain-10', 'chain-10', 'chain-10']);
});

/** Faults in a whole copy, with the overall state and its reason. */
const faults = {
  'a feed that nothing verifies': ['delete from etl.rankings', 'degraded', 'unverified'],
  'a gap in a list': [
    `update etl.coverage set verified = verified - (
       select int8multirange(int8range(min(block_number) + 2, max(block_number) - 2))
       from explorer.user_operations
     )`,
    'degraded',
    'gap',
  ],
  'a batch that was not read': [
    `delete from explorer.read_batches where batch_number = 2`,
    'degraded',
    'gap',
  ],
  'a batch that is not verified': [
    `update explorer.read_batches set is_verified = false where batch_number = 1`,
    'degraded',
    'unverified',
  ],
  'a range of batches above the newest one': [
    `update etl.feeds set target_numbers = target_numbers + '{[100,)}', latest_batch = 3 where kind = 'numbered'`,
    'degraded',
    'unverified',
  ],
  'a listed batch of which a poll found no blocks': [
    `with followed as (
       update etl.feeds set target_numbers = '{[1,)}', latest_batch = 3 where kind = 'numbered'
     ), listed as (
       insert into explorer.listed_batches (chain_id, batch_number, page_id) values (10, 4, 1)
     )
     insert into explorer.read_batches (chain_id, batch_number, state, blocks_count, is_verified, walked_at, page_id)
     values (10, 4, 'open', 0, false, now(), 1)`,
    'degraded',
    'unverified',
  ],
  'an item in quarantine': [
    `insert into etl.quarantine (chain_id, operation, page_id, reason, raw, raw_hash, scope, position)
     select chain_id, operation, min(pages.id), 'hash: missing', '{}', 'x', '{}', 0
     from etl.pages join etl.walks on walks.id = walk_id group by 1, 2 limit 1`,
    'action-required',
    'quarantine',
  ],
  'an order that was broken': [
    `update etl.feeds set failure = 'unordered', reason = 'unordered: page 3' where operation = 'factories'`,
    'degraded',
    'failing',
  ],
  'a key that is refused': [
    `update etl.feeds set failure = 'key-missing', reason = 'HTTP 402' where operation = 'factories'`,
    'action-required',
    'key-refused',
  ],
  'a chain that the service does not know': [
    `update etl.feeds set failure = 'unknown-chain', reason = 'no such chain' where operation = 'factories'`,
    'action-required',
    'unsupported',
  ],
} as const;

test('a copy with a fault is not healthy', async () => {
  const { database } = await copied();
  const { query, db } = databaseAt(database.url, 1);
  for (const [what, [statement, state, code]] of Object.entries(faults)) {
    await query('begin');
    await query(`${statement}; select etl.recount_batches('%')`);
    const { overall, reasons } = await readStatus(db, 50);
    await query('rollback');
    expect([overall.state, reasons.some((reason) => reason.code === code)], what).toEqual([
      state,
      true,
    ]);
  }
});

test('nine statements make the document, however many feeds there are', async () => {
  const { database } = await copied();
  await database.query(`
    insert into etl.feeds (chain_id, operation, kind, unit, settings)
    select 8453, operation, kind, unit, settings from etl.feeds`);
  let statements = 0;
  const counting = new Proxy(database.pool, {
    get(pool, name) {
      if (name !== 'query') return Reflect.get(pool, name, pool) as unknown;
      return (...query: Parameters<typeof pool.query>) => {
        statements += 1;
        return pool.query(...query);
      };
    },
  });
  expect((await statusNow(counting, 50)).feeds).toHaveLength(6);
  expect(statements).toBe(9);
});
