import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { HttpServer } from '../../../src/http/server.ts';
import { createPulse, healthOf } from '../../../src/http/health.ts';
import { createReader } from '../../../src/http/reader.ts';
import { startSimulator, type SimulatedChain, type Simulator } from '../../../simulator/index.ts';
import { openDatabaseProxy } from '../../harness/servers.ts';
import { createTestDatabase, freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { holdDocument } from '../../harness/documents.ts';
import { ask, servedPage } from '../../harness/http.ts';
import { runSync } from '../../harness/sync.ts';

const chains: SimulatedChain[] = [
  {
    id: 10,
    name: 'optimism',
    family: 'optimism',
    generation: 'v12',
    userOperations: 120,
    batches: { first: 1, count: 3, blocks: 20 },
    factories: 20,
    // Its newest items are of the last hours, as those of a live chain are.
    startsAtMs: Date.now() - 2 * 3_600_000,
  },
];

let simulator: Simulator;
let copied: TestDatabase;
beforeAll(async () => {
  simulator = await startSimulator({ seed: 6, chains });
  copied = await createTestDatabase();
  await runSync(copied, { url: simulator.url, chains });
});
afterAll(async () => {
  await simulator?.close();
  await copied?.drop();
});

/** What the endpoints say: the code of each, and the kinds of reasons. */
async function told(page: HttpServer) {
  const [health, ready, status] = [
    await ask(page, '/healthz'),
    await ask(page, '/readyz'),
    await ask(page, '/status.json'),
  ];
  const document = JSON.parse(status.body) as {
    schema: string;
    verdict: { kind: string };
  };
  holdDocument(document);
  const { reasons } = JSON.parse(ready.body) as { reasons: { kind: string }[] };
  return {
    healthz: health.status,
    readyz: ready.status,
    reasons: reasons.map(({ kind }) => kind),
    status: [status.status, document.verdict.kind],
  };
}

test('nothing was ever read', async () => {
  const { url } = await freshDatabase();
  expect(await told(await servedPage(url))).toEqual({
    healthz: 200,
    readyz: 200,
    reasons: [],
    status: [200, 'never-read'],
  });
});

test('a database without tables', async () => {
  const { url } = await freshDatabase('empty');
  expect(await told(await servedPage(url))).toMatchObject({ status: [200, 'never-read'] });
});

test('healthy', async () => {
  expect(await told(await servedPage(copied.url))).toEqual({
    healthz: 200,
    readyz: 200,
    reasons: [],
    status: [200, 'healthy'],
  });
});

test.each([
  [
    'the key is refused',
    `update etl.feeds set state = 'unauthorized', failure = 'key-missing' where operation = 'factories'`,
    `update etl.feeds set state = 'idle', failure = null where operation = 'factories'`,
    { readyz: 503, reasons: ['key-refused'], status: [200, 'needs-you'] },
  ],
  [
    'what is in quarantine needs a person, and nothing stands still',
    `insert into etl.quarantine (chain_id, operation, scope, raw, raw_hash, reason, page_id, position)
     select 10, 'factories', '{}', '{}', 'x', 'reason', min(id), 0 from etl.pages`,
    `delete from etl.quarantine`,
    { readyz: 200, reasons: [], status: [200, 'needs-you'] },
  ],
])('%s', async (_what, breaks, mends, expected) => {
  await copied.pool.query(breaks);
  try {
    expect(await told(await servedPage(copied.url))).toMatchObject({ healthz: 200, ...expected });
  } finally {
    await copied.pool.query(mends);
  }
});

test('a batch is missing', async () => {
  const database = await freshDatabase();
  await runSync(database, { url: simulator.url, chains });
  await database.pool.query('delete from explorer.read_batches where batch_number = 2');
  expect(await told(await servedPage(database.url))).toEqual({
    healthz: 200,
    readyz: 200,
    reasons: [],
    status: [200, 'behind'],
  });
});

test('a source has stopped', async () => {
  const database = await freshDatabase();
  const old = chains.map((chain) => ({ ...chain, startsAtMs: Date.now() - 30 * 86_400_000 }));
  const silent = await startSimulator({ seed: 6, chains: old });
  onTestFinished(() => silent.close());
  await runSync(database, { url: silent.url, chains: old });
  expect(await told(await servedPage(database.url))).toEqual({
    healthz: 200,
    readyz: 503,
    reasons: ['stale'],
    status: [200, 'degraded'],
  });
});

test('nobody works, and its objective is missed', async () => {
  const database = await freshDatabase();
  await runSync(database, { url: simulator.url, chains });
  await database.pool.query(`
    update etl.runs set opened_at = opened_at - interval '3 days';
    update etl.walks set started_at = started_at - interval '3 days';
    update etl.feeds set last_success_at = last_success_at - interval '3 days'
  `);
  expect(await told(await servedPage(database.url))).toMatchObject({
    healthz: 200,
    readyz: 503,
    status: [200, 'stopped'],
  });
});

test('a database that answers too slowly is not away, and nobody knows how all is', async () => {
  const { pool, url } = await freshDatabase();
  const holder = await pool.connect();
  await holder.query('begin; lock table etl.feeds in access exclusive mode');
  const page = await servedPage(url);
  const slow = await told(page);
  await holder.query('rollback');
  holder.release();
  expect(slow).toEqual({
    healthz: 200,
    readyz: 503,
    reasons: ['unreadable'],
    status: [200, 'unknown'],
  });
});

test('the database goes away and comes back', async () => {
  const proxy = await openDatabaseProxy(copied.url);
  // Each look may be asked for at once.
  let clockMs = 0;
  const page = await servedPage(proxy.url, { now: () => (clockMs += 60_000) });
  expect(await told(page)).toMatchObject({ readyz: 200 });
  proxy.set('refuse');
  proxy.cutAll();
  expect(await told(page)).toEqual({
    healthz: 200,
    readyz: 503,
    reasons: ['database-away'],
    status: [200, 'database-away'],
  });
  expect((await ask(page, '/')).status).toBe(200);
  proxy.set('open');
  expect(await told(page)).toMatchObject({ readyz: 200, status: [200, 'healthy'] });
  await proxy.close();
});

test('a database that falls silent while it is opened keeps nobody waiting for ever', async () => {
  const { pool, url } = await freshDatabase();
  const holder = await pool.connect();
  // What is asked before a look, and by nobody else.
  await holder.query('begin; lock table pg_catalog.pg_extension in access exclusive mode');
  const page = await servedPage(url);
  const slow = await told(page);
  await holder.query('rollback');
  holder.release();
  expect(slow).toMatchObject({ healthz: 200, readyz: 503 });
});

test('before the database is known it is told as away', async () => {
  expect(await told(await servedPage(null))).toMatchObject({
    readyz: 503,
    reasons: ['database-away'],
  });
});

test('what works in rounds and stands still is not healthy', async () => {
  let nowMs = 0;
  const pulse = createPulse(() => nowMs);
  expect(healthOf(pulse)).toEqual({ is_healthy: true, last_round_s: null });
  pulse.beat();
  nowMs = 179_000;
  expect(healthOf(pulse)).toEqual({ is_healthy: true, last_round_s: 179 });
  nowMs = 181_000;
  expect(healthOf(pulse)).toEqual({ is_healthy: false, last_round_s: 181 });
  pulse.beat();
  expect(healthOf(pulse).is_healthy).toBe(true);
});

test('the page reads on one connection of its own, and cannot write', async () => {
  const reader = createReader();
  onTestFinished(() => reader.close());
  reader.use({ url: copied.url, directUrl: null });
  await Promise.all([1, 2, 3].map(() => reader.pool.query('select count(*) from etl.pages')));
  const { rows } = await reader.pool.query<{ role: string; sessions: number }>(`
    select current_user as role,
           (select count(*)::int from pg_stat_activity
            where application_name = 'explorer-etl page' and datname = current_database()) as sessions
  `);
  // The tests' own user is a superuser, as that of an embedded Postgres is.
  expect(rows).toEqual([{ role: 'pg_read_all_data', sessions: 1 }]);
  await expect(reader.pool.query('delete from etl.quarantine')).rejects.toThrow(
    /read-only transaction/,
  );
});

test('one look serves all who ask within seconds', async () => {
  const database = await freshDatabase();
  const page = await servedPage(database.url);
  const bodies = await Promise.all(Array.from({ length: 20 }, () => ask(page, '/status.json')));
  expect(new Set(bodies.map(({ body }) => body)).size).toBe(1);
});
