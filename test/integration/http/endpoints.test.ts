import type { z } from 'zod';
import { expect, onTestFinished, test } from 'vitest';
import { createPulse, type HttpServer } from '../../../src/http/server.ts';
import { createReader } from '../../../src/http/reader.ts';
import { answerAsJson } from '../../../src/query/question.ts';
import * as documents from '../../../src/status/endpoints.ts';
import { statusDocument } from '../../../src/status/schema.ts';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { openDatabaseProxy } from '../../harness/servers.ts';
import { openCopy, sharedCopy, plainChain } from '../../harness/sync.ts';
import { freshDatabase } from '../../harness/database.ts';
import { ask, servedPage } from '../../harness/http.ts';

const chains: SimulatedChain[] = [
  {
    ...plainChain,
    userOperations: 120,
    batches: { first: 1, count: 3, blocks: 20 },
    factories: 20,
    // Its newest items are of the last hours, as those of a live chain are.
    startsAtMs: Date.now() - 2 * 3_600_000,
  },
];

const copied = sharedCopy(6, chains);

/** What the probes and the status say: the code of each, and the reasons that stop progress. */
async function answers(page: HttpServer) {
  const [health, ready, status] = [
    await ask(page, '/healthz'),
    await ask(page, '/readyz'),
    await ask(page, '/status.json'),
  ];
  const document = statusDocument.parse(JSON.parse(status.body));
  const { reasons } = JSON.parse(ready.body) as { reasons: { code: string }[] };
  return {
    healthz: health.status,
    readyz: ready.status,
    reasons: reasons.map(({ code }) => code),
    state: document.overall.state,
  };
}

const unreachable = {
  healthz: 200,
  readyz: 503,
  reasons: ['database-unreachable'],
} as const;

test.each(['migrated', 'empty'] as const)(
  'the page of a database that is %s and has no data is ready',
  async (how) => {
    const { url } = await freshDatabase(how);
    expect(await answers(await servedPage(url))).toMatchObject({
      healthz: 200,
      readyz: 200,
      reasons: [],
    });
  },
);

test.each([
  ['healthy', '', { readyz: 200, reasons: [], state: 'healthy' }],
  [
    'the key is refused',
    `update etl.feeds set failure = 'key-missing', reason = 'HTTP 402' where operation = 'factories'`,
    { readyz: 503, reasons: ['key-refused'], state: 'action-required' },
  ],
])('%s', async (_what, breaks, expected) => {
  await copied.query(breaks);
  onTestFinished(async () => {
    await copied.query(`update etl.feeds set failure = null, reason = null`);
  });
  expect(await answers(await servedPage(copied.url))).toEqual({ healthz: 200, ...expected });
});

test('a client of a slow database gets a time-out', async () => {
  const { pool, url } = await freshDatabase();
  const holder = await pool.connect();
  await holder.query('begin; lock table etl.feeds in access exclusive mode');
  const page = await servedPage(url);
  const [slow, runs] = await Promise.all([answers(page), ask(page, '/runs.json')]);
  await holder.query('rollback');
  holder.release();
  expect(slow).toMatchObject({ ...unreachable, state: 'degraded' });
  expect([runs.status, runs.body]).toEqual([504, expect.stringContaining('longer than')]);
});

test('a client gets a time-out if the database stops answering while it is opened', async () => {
  const { pool, url } = await freshDatabase();
  const holder = await pool.connect();
  // What is read as a connection is opened, and by nothing else.
  await holder.query('begin; lock table pg_catalog.pg_extension in access exclusive mode');
  const slow = await answers(await servedPage(url));
  await holder.query('rollback');
  holder.release();
  expect(slow).toMatchObject({ healthz: 200, readyz: 503 });
});

test('readiness follows a database that is lost and returns', async () => {
  const proxy = await openDatabaseProxy(copied.url);
  // Each reading may be made at once.
  let clockMs = 0;
  const page = await servedPage(proxy.url, { now: () => (clockMs += 60_000) });
  expect(await answers(page)).toMatchObject({ readyz: 200 });
  proxy.set('refuse');
  proxy.cutAll();
  expect(await answers(page)).toEqual({ ...unreachable, state: 'stopped' });
  expect([(await ask(page, '/')).status, (await ask(page, '/runs.json')).status]).toEqual([
    200, 503,
  ]);
  proxy.set('open');
  expect(await answers(page)).toMatchObject({ readyz: 200, state: 'healthy' });
});

test('the page is served before the database is open, and its data is unavailable', async () => {
  const page = await servedPage(null);
  const starting = { status: 503, body: '{"error":"Starting: the database is being opened."}' };
  expect(await ask(page, '/status.json')).toMatchObject(starting);
  expect(await ask(page, '/runs.json')).toMatchObject(starting);
  expect(await ask(page, '/readyz')).toMatchObject({ status: 503 });
});

test('a worker without a round for three minutes is not healthy', async () => {
  let nowMs = 0;
  const pulse = createPulse(() => nowMs);
  expect(pulse.health()).toEqual({ is_healthy: true, last_round_s: null });
  pulse.beat();
  nowMs = 179_000;
  expect(pulse.health()).toEqual({ is_healthy: true, last_round_s: 179 });
  nowMs = 181_000;
  expect(pulse.health()).toEqual({ is_healthy: false, last_round_s: 181 });
  pulse.beat();
  expect(pulse.health().is_healthy).toBe(true);
});

test('the page reads on two connections of its own that cannot write', async () => {
  const reader = createReader();
  onTestFinished(() => reader.close());
  reader.use(copied.url);
  const pool = await reader.pool();
  await Promise.all([1, 2, 3].map(() => pool.query('select count(*) from etl.pages')));
  const { rows } = await pool.query<{ role: string }>('select current_user as role');
  // The tests' own user is a superuser, as that of an embedded Postgres is.
  expect(rows).toEqual([{ role: 'pg_read_all_data' }]);
  // Sessions of other pages may still end.
  expect(pool.totalCount).toBe(2);
  await expect(pool.query('delete from etl.quarantine')).rejects.toThrow(/read-only transaction/);
});

const served: readonly (readonly [string, z.ZodType])[] = [
  ['/strips.json', documents.stripsDocument],
  ['/coverage.json?feed=10/user-operations&cells=7', documents.coverageDocument],
  ['/coverage.json?feed=10/optimism-batch-blocks', documents.coverageDocument],
  ['/coverage.json?feed=10/factories', documents.coverageDocument],
  ['/throughput.json?hours=168&feed=10/user-operations', documents.throughputDocument],
  ['/throughput.json', documents.throughputDocument],
  ['/runs.json', documents.runsDocument],
  ['/queries.json', documents.queriesDocument],
  ['/trace.json?term=2', documents.traceDocument],
];

test.each(served)('%s is the document that its schema describes', async (path, schema) => {
  const { status, body } = await ask(await servedPage(copied.url), path);
  expect([status, schema.safeParse(JSON.parse(body)).error]).toEqual([200, undefined]);
});

test("a feed's coverage names the commands that poll, pause and resume it", async () => {
  const { body } = await ask(await servedPage(copied.url), '/coverage.json?feed=10/factories');
  const { commands } = documents.coverageDocument.parse(JSON.parse(body));
  expect(commands.map(({ command }) => command)).toEqual([
    'explorer-etl feeds run --chain 10 --operation factories',
    'explorer-etl feeds pause --chain 10 --operation factories',
    'explorer-etl feeds resume --chain 10 --operation factories',
  ]);
});

test('every question is answered as JSON and as CSV, and its chart names columns of the result', async () => {
  const page = await servedPage(copied.url);
  const all = documents.queriesDocument.parse(JSON.parse((await ask(page, '/queries.json')).body));
  for (const { name, chart } of all.queries) {
    const { body } = await ask(page, `/query.json?name=${name}`);
    const { columns } = documents.queryDocument.parse(JSON.parse(body));
    const names = columns.map((column) => column.name);
    const drawn =
      chart === null ? [] : [chart.x, chart.y, ...(chart.series === null ? [] : [chart.series])];
    expect(names, name).toEqual(expect.arrayContaining(drawn));
    const csv = await ask(page, `/query.csv?name=${name}`);
    expect(csv.body.split('\n')[0], name).toBe(names.join(','));
  }
});

test('an answer says how current the sums are that it reads', async () => {
  const page = await servedPage(copied.url);
  const sumsOf = async (name: string) => {
    const { body } = await ask(page, `/query.json?name=${name}`);
    return documents.queryDocument.parse(JSON.parse(body)).sums?.sentence;
  };
  expect(await sumsOf('operations-daily')).toMatch(/^there are no sums yet|^sums up to/);
  expect(await sumsOf('biggest-factories')).toBeUndefined();
});

test('no name in the CSV of a query is a formula', async () => {
  const { rows } = await copied.pool.query<{ name: string }>(
    `update explorer.addresses set name = '=1+1' where hash in (select address_hash from explorer.factories) returning name`,
  );
  expect(rows.length).toBeGreaterThan(0);
  const page = await servedPage(copied.url);
  const { body } = await ask(page, '/query.csv?name=biggest-factories');
  expect(body).toContain(",'=1+1\n");
  expect(body).not.toMatch(/(?:^|,)"?[=+@-]/mu);
  // Programs have JSON.
  expect((await ask(page, '/query.json?name=biggest-factories')).body).toContain('"=1+1"');
});

test.each([
  ['/coverage.json?feed=none', 404],
  ["/coverage.json?feed=10'; drop table etl.feeds", 404],
  ['/coverage.json?feed=10/user-operations&from=-1', 400],
  ['/coverage.json?feed=10/user-operations&cells=1001', 400],
  ['/throughput.json?hours=169', 400],
  ['/runs.json?hours=1e3', 400],
  ['/query.json?name=../../etc/passwd', 404],
  ['/query.csv?name=', 404],
])('%s answers %i with an error message', async (path, expected) => {
  const { status, body } = await ask(await servedPage(copied.url), encodeURI(path));
  expect([status, JSON.parse(body)]).toEqual([expected, { error: expect.any(String) }]);
});

test('long arrays, documents and texts of a result are cut, and numbers stay numbers', async () => {
  const statement = `select array_fill('ten chars'::text, array[200]) as a, to_jsonb(repeat('x', 2000)) as d,
                            repeat('x', 2000) as t, 2::numeric ^ 80 as n, 0.5::float8 as f, true as b`;
  const { rows } = await answerAsJson(copied.pool, { text: statement, values: [] });
  expect(rows).toEqual([
    [
      expect.stringMatching(/^\{"ten chars",.{987}$/u),
      expect.stringMatching(/^"x{999}$/u),
      'x'.repeat(1_000),
      expect.stringMatching(/^1208925819614629174706176/u),
      0.5,
      true,
    ],
  ]);
});

/** What others may name things: markup, a URL that runs, a direction mark, 100 kB. */
const hostile = `"><script>alert(1)</script>javascript:alert(1)\u202E${'x'.repeat(100_000)}`;

test('hostile text is cut, and served as JSON that no browser renders', async () => {
  const { database, sync } = await openCopy(chains);
  await sync();
  await database.query('update explorer.addresses set name = $1', [hostile]);
  await database.query('update etl.runs set reason = left($1, 500)', [hostile]);
  const rows = await database.query('select min(address_hash) as hash from explorer.factories');
  const page = await servedPage(database.url);
  for (const path of [
    `/trace.json?term=${rows[0]?.hash ?? ''}`,
    '/trace.json?term=%00',
    `/trace.json?term=${encodeURIComponent(hostile.slice(0, 500))}`,
    '/query.json?name=biggest-factories',
    '/runs.json',
  ]) {
    const { status, headers, body } = await ask(page, path);
    expect([status, headers['content-type'], headers['x-content-type-options']], path).toEqual([
      200,
      'application/json',
      'nosniff',
    ]);
    expect(body.length, path).toBeLessThan(60_000);
  }
});
