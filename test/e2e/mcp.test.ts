import { expect, test } from 'vitest';
import { sharedDatabase } from '../harness/database.ts';
import { call, command } from '../harness/process.ts';
import { feedsOf, fillInPart, key, openSession } from './mcp-session.ts';

const database = sharedDatabase(fillInPart);

test('a client calls ten times, and each answer says what is complete of the lists that it reads', async () => {
  const { client, answer } = await openSession(database.url);
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
  expect(senders.lists?.[0]).toMatchObject({
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

test('a statement that also reads what a user made has the lists behind it', async () => {
  await database.query(`
    create schema mine;
    create view mine.recent as select hash from explorer.user_operations;
    create table mine.kept as select hash from explorer.blocks`);
  const { answer } = await openSession(database.url);
  for (const relation of ['mine.recent', 'mine.kept']) {
    const sql = `select count(*) from explorer.factories, ${relation}`;
    expect(feedsOf(await answer('query', { sql })), relation).toContain('10/user-operations');
  }
});

test('a call that fails says why, and the next one is answered', async () => {
  const { request, answer } = await openSession(database.url);
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

test('a statement that never ends is cut by --timeout', async () => {
  // A start's statements take less.
  const { query } = await openSession(database.url, ['--timeout', '5s']);
  const { isError, text } = await query('select pg_sleep(3600)');
  expect(text).toMatch(/took longer than 5 s and was cancelled: --timeout/u);
  expect(isError).toBe(true);
});

test('no answer holds the key, and stderr does not either', async () => {
  const { query, transport } = await openSession(database.url);
  let stderr = '';
  transport.stderr?.on('data', (text: Buffer) => (stderr += text.toString()));
  expect((await query(`select '${key}' as found`)).text).toContain('"rows":[["***"]]');
  expect((await query(`select ${key}`)).text).not.toContain(key);
  expect(stderr).not.toContain(key);
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
