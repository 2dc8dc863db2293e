import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, inject, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { startSimulator } from '../../simulator/index.ts';
import { grantRoles, roles } from '../../src/db/roles.ts';
import { rollUp } from '../../src/rollups/roll.ts';
import { opened, sharedDatabase, userWith } from '../harness/database.ts';
import { call, command, emptyFolder, eventually } from '../harness/process.ts';
import { plainChain, runSync } from '../harness/sync.ts';

const key = 'canary-of-the-key';

/** Factories and batches are read whole, of the operations only the newest page. */
const database = sharedDatabase(async (empty) => {
  const chains = [{ ...plainChain, userOperations: 400, factories: 10 }];
  const simulator = await startSimulator({ seed: 5, chains });
  const of = { url: simulator.url, chains };
  await runSync(empty, { ...of, operations: ['factories'] });
  await runSync(empty, { ...of, operations: ['user-operations'], maxPages: 1 });
  await simulator.close();
  await rollUp(
    { db: opened(empty).db, now: () => performance.now() },
    new AbortController().signal,
  );
  await grantRoles(empty.pool);
});

const answerShape = z.looseObject({
  columns: z.array(z.looseObject({ name: z.string() })).default([]),
  rows: z.array(z.array(z.unknown())).default([]),
  is_cut: z.boolean().optional(),
  sums: z.looseObject({ sentence: z.string() }).nullish(),
  caution: z.string().nullish(),
  lists: z
    .array(
      z.looseObject({
        feed: z.string(),
        open_findings: z.int().nullable(),
        findings: z.array(z.looseObject({ kind: z.string(), is_open: z.boolean() })).default([]),
        complete: z.array(z.looseObject({ as_of: z.iso.datetime({ offset: true }) })),
        newest_item_at: z.string(),
        polled_at: z.string(),
      }),
    )
    .default([]),
});
const resultShape = z.looseObject({
  content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]),
  isError: z.boolean().default(false),
});

/** A client's session with the program, in a process of its own. */
async function session({ url = database.url, flags = [] as readonly string[] } = {}) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [inject('program'), 'mcp', ...flags],
    env: { DATABASE_URL: url, EXPLORER_API_KEY: key },
    cwd: await emptyFolder(),
    stderr: 'pipe',
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const request = async (name: string, given: object = {}, signal?: AbortSignal) => {
    const called = { name, arguments: { ...given } };
    const options = signal === undefined ? {} : { signal };
    const result = resultShape.parse(await client.callTool(called, undefined, options));
    return { text: result.content[0].text, isError: result.isError };
  };
  return {
    client,
    transport,
    request,
    answer: async (name: string, given?: object) => {
      const { text, isError } = await request(name, given);
      expect(isError, text).toBe(false);
      return answerShape.parse(JSON.parse(text));
    },
    query: async (sql: string, limit?: number) => request('query', { sql, limit }),
  };
}

const feedsOf = ({ lists }: z.infer<typeof answerShape>) => lists.map(({ feed }) => feed);

test('a client calls ten times, and each answer says what is complete of the lists that it reads', async () => {
  const { client, answer } = await session();
  expect(client.getInstructions()).toMatch(/caution/u);
  const { tools } = await client.listTools();
  expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual(
    ['list_questions', 'run_question', 'describe', 'query', 'status'].map((name) => [name, true]),
  );

  const listed = await answer('list_questions');
  expect(listed).toMatchObject({ lists: [] });
  expect(listed['questions']).toContainEqual(
    expect.objectContaining({ name: 'top-senders', question: expect.any(String) }),
  );

  const relations = await answer('describe');
  expect(relations.rows.map(([name]) => name)).toEqual(
    expect.arrayContaining(['user_operations', 'findings']),
  );
  const factories = await answer('describe', { relation: 'explorer.factories' });
  expect(factories.rows.map(([, column]) => column)).toContain('address_hash');
  expect(feedsOf(factories)).toEqual(['10/factories']);

  // Data that is open: a model that ignores all but the rows still reads the caveat beside them.
  const senders = await answer('run_question', { name: 'top-senders', chain: 10, limit: 3 });
  expect(senders.rows).toHaveLength(3);
  expect(feedsOf(senders)).toEqual(['10/user-operations']);
  expect(senders.caution).toMatch(/^Not verified complete.* 10\/user-operations \(1\)\.$/u);
  expect(senders.lists[0]).toMatchObject({
    open_findings: 1,
    complete: [{ unit: 'blocks' }],
    findings: [
      expect.objectContaining({ kind: 'gap', is_open: true, sentence: 'not downloaded' }),
      expect.objectContaining({ kind: 'schema-drift', is_open: false }),
    ],
  });
  expect(senders.sums?.sentence).toMatch(/^sums up to /u);

  const biggest = await answer('run_question', { name: 'biggest-factories' });
  expect(biggest.rows).toHaveLength(10);
  expect(feedsOf(biggest)).toEqual(['10/factories']);
  expect(biggest.caution).toBeNull();

  const count = await answer('query', { sql: 'select count(*) from explorer.user_operations' });
  expect(count).toMatchObject({ rows: [[50]], sums: null, caution: expect.any(String) });

  const daily = await answer('query', { sql: 'table explorer.operations_daily', limit: 2 });
  expect(daily).toMatchObject({ is_cut: true, sums: { up_to: expect.any(String), stale: 0 } });
  expect(feedsOf(daily)).toEqual(['10/user-operations']);

  const joined = await answer('query', {
    sql: 'select 1 from explorer.user_operations, explorer.factories limit 1',
  });
  expect(feedsOf(joined)).toEqual(['10/factories', '10/user-operations']);

  const missing = await answer('query', { sql: 'select count(*) from explorer.bundles' });
  expect(missing).toMatchObject({ lists: [], caution: expect.stringMatching(/^No list/u) });

  const status = await answer('status');
  expect(status['overall']).toMatchObject({ state: expect.any(String) });
  expect(feedsOf(status)).toEqual(['10/factories', '10/user-operations']);
});

test('the lists of a view are those whose rows it shows, also if it is summed up', async () => {
  const { answer } = await session();
  const [operations, factories] = ['10/user-operations', '10/factories'];
  for (const [view, lists] of [
    ['operations_enriched', [operations]],
    ['senders', [operations]],
    ['fees_daily', [operations]],
    ['operations_weekly', [operations]],
    ['factory_daily', [factories]],
    ['addresses', [factories, operations]],
    ['findings', [factories, operations]],
  ] as const) {
    const answered = await answer('query', { sql: `select from explorer.${view} limit 1` });
    expect(feedsOf(answered), view).toEqual(lists);
  }
});

test('a call that fails says why, and the next one is answered', async () => {
  const { request, answer } = await session();
  const statement = (sql: string) => ['query', { sql }] as const;
  for (const [[name, given], why] of [
    [statement('delete from explorer.blocks'), /begins with select, .*this one with "delete"/u],
    [statement('with gone as (delete from explorer.blocks) select 1'), /read-only transaction/u],
    [statement('select 1; select 2'), /one statement at a time/u],
    [statement('select hsh from explorer.blocks'), /"hsh" does not exist .*\nLINE 1: .*\n +\^/u],
    [['run_question', { name: 'nothing' }], /list_questions has no nothing/u],
    [['run_question', { name: 'biggest-factories', days: 3 }], /does not take --days/u],
    [['query', { sql: 'select 1', limt: 3 }], /limt/u],
    [['query', { sql: 'select 1', limit: 100_000 }], /1000/u],
  ] as const) {
    const refused = await request(name, given);
    expect(refused).toEqual({ isError: true, text: expect.stringMatching(why) });
  }
  expect((await answer('query', { sql: 'select 1' })).rows).toEqual([[1]]);
});

const endless = 'select count(*) from generate_series(1, 1000000000000)';
const running = () =>
  database.query(`select from pg_stat_activity where query = '${endless}' and state = 'active'`);

test('a statement that never ends is cut by --timeout', async () => {
  const { query } = await session({ flags: ['--timeout', '1s'] });
  const { isError, text } = await query(endless);
  expect(text).toMatch(/took longer than 1 s and was cancelled: --timeout/u);
  expect(isError).toBe(true);
});

test('a statement ends in the database when the client cancels its call, or leaves', async () => {
  const { client, request, query } = await session({ flags: ['--timeout', '0'] });
  const stop = new AbortController();
  const cancelled = request('query', { sql: endless }, stop.signal).catch(() => 'cancelled');
  await eventually('it to run', async () => (await running()).length > 0);
  stop.abort();
  expect(await cancelled).toBe('cancelled');
  await eventually('it to end', async () => (await running()).length === 0);

  const left = query(endless).catch(() => 'left');
  await eventually('it to run again', async () => (await running()).length > 0);
  await client.close();
  expect(await left).toBe('left');
  await eventually('it to end again', async () => (await running()).length === 0);
});

test('findings that take longer than --timeout are unknown, and the answer says so', async () => {
  const { answer } = await session({ flags: ['--timeout', '2s'] });
  const locker = await database.pool.connect();
  onTestFinished(() => locker.release(true));
  await locker.query('begin; lock table etl.pages in access exclusive mode');
  const count = await answer('query', { sql: 'select count(*) from explorer.user_operations' });
  expect(count).toMatchObject({ rows: [[50]], lists: [{ open_findings: null }] });
  expect(count.lists[0]?.complete).toHaveLength(1);
  expect(count.caution).toMatch(/10\/user-operations \(unknown\)/u);
});

test('no answer holds the key, and stderr does not either', async () => {
  const { query, transport } = await session();
  let stderr = '';
  transport.stderr?.on('data', (text: Buffer) => (stderr += text.toString()));
  expect((await query(`select '${key}' as found`)).text).toContain('"rows":[["***"]]');
  expect((await query(`select ${key}`)).text).not.toContain(key);
  expect(stderr).not.toContain(key);
});

test('an analyst reads all but the status, with the state of the lists', async () => {
  const { url } = await userWith(database, roles.analyst);
  const { answer, query } = await session({ url });
  const count = await answer('query', { sql: 'select count(*) from explorer.factories' });
  expect(count).toMatchObject({ rows: [[10]], lists: [{ feed: '10/factories' }] });
  expect((await query('table explorer.address_watchlist_names')).text).toMatch(
    /permission denied/u,
  );
  const status = await answer('status');
  expect(status['overall']).toMatchObject({
    sentence: expect.stringMatching(/permission denied/u),
  });
  expect(feedsOf(status)).toEqual(['10/factories', '10/user-operations']);
});

test('mcp ends with 0 when its input does, and writes nothing but the protocol on stdout', async () => {
  const env = { DATABASE_URL: database.url };
  // Its stdin is at its end.
  expect(await command(['mcp'], { env })).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('mcp needs a database', async () => {
  expect(await call(['mcp'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no database/u),
  });
});
