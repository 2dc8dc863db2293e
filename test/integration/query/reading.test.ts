import { describe, expect, test } from 'vitest';
import { roles } from '../../../src/db/roles.ts';
import { call, eventually } from '../../harness/process.ts';
import {
  freshDatabase,
  grantedDatabase,
  sharedDatabase,
  userWith,
} from '../../harness/database.ts';

const database = sharedDatabase();

const ask = (...args: readonly string[]) =>
  call(['query', ...args], { env: { DATABASE_URL: database.url } });

describe('a statement that does more than read is refused', () => {
  test.each([
    ['delete from explorer.blocks', /begins with select, .*this one with "delete"/],
    ["copy (select 1) to program 'id'", /this one with "copy"/],
    ["/* a\n * b */ -- d\n  do 'begin end'", /this one with "do"/],
    ['/* a /* b */ c */ delete from explorer.blocks', /this one with "\/"/],
    ['set transaction read write', /this one with "set"/],
    ['commit and chain', /this one with "commit"/],
    ['/* nothing */ -- at all', /there is no statement/],
    ['select 1; select 2', /one statement at a time/],
    ['select 1; commit; drop schema explorer cascade', /one statement at a time/],
    ['select 1 into mine', /read-only transaction/],
    ['with gone as (delete from explorer.blocks returning 1) select * from gone', /read-only/],
    ['explain analyze delete from explorer.blocks', /read-only/],
    ["select nextval('etl.walks_id_seq')", /permission denied for sequence/],
    ["select set_config('transaction_read_only', 'off', true)", /read-write mode must be set/],
    ['select pg_terminate_backend(pg_backend_pid())', /permission denied to terminate/],
    ['select pg_reload_conf()', /permission denied/],
    ["select pg_read_file('/etc/hostname')", /permission denied/],
  ])('%s', async (statement, message) => {
    const ended = await ask(statement);
    expect(ended.stderr).toMatch(message);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
  });
});

test.each([
  'select 1 as n',
  '( select 1 as n )',
  '/* a * / b **/ -- c\nselect 1 as n;',
  'with one as (select 1 as n) select * from one',
  'values (1)',
])('a statement that only reads is answered: %s', async (statement) => {
  const ended = await ask(statement, '--json');
  expect(Object.values((JSON.parse(ended.stdout) as { rows: object[] }).rows[0] ?? {})).toEqual([
    1,
  ]);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
});

describe('a wrong statement is reported as psql does, with exit code 2', () => {
  test('with the position of the error, and a suggestion', async () => {
    const ended = await ask('select 1,\n\t hsh from explorer.blocks');
    expect(ended.stderr).toBe(
      [
        'explorer-etl: column "hsh" does not exist (42703)',
        '  LINE 2:   hsh from explorer.blocks',
        '            ^',
        '  HINT: Perhaps you meant to reference the column "blocks.hash".',
        '',
      ].join('\n'),
    );
    expect(ended).toMatchObject({ code: 2, stdout: '' });
  });

  test('a parameter without a value', async () => {
    const ended = await ask('select $1');
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/requires 1/u);
  });

  test('a long line is cut around the place, and characters beyond 16 bits are one', async () => {
    const ended = await ask(`select ${"'🦄', ".repeat(30)} wrong, ${'1, '.repeat(60)} 1`);
    const [, line = '', mark = ''] = ended.stderr.split('\n');
    const at = Array.from(mark).indexOf('^');
    expect(
      Array.from(line)
        .slice(at, at + 5)
        .join(''),
    ).toBe('wrong');
    expect(Array.from(line).length).toBeLessThan(90);
  });

  test('a missing table, before and after a name with control characters', async () => {
    const ended = await ask('select * from "no\u001b[2Jtable"');
    expect(ended.stderr).not.toContain('\u001b');
    expect(ended.code).toBe(2);
  });
});

test('a statement that takes too long is cancelled, with exit code 1', async () => {
  const ended = await ask('select pg_sleep(600)', '--timeout', '50ms');
  expect(ended.stderr).toMatch(/took longer than 0\.05 s .*--timeout/);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
});

test('a connection that is lost ends with exit code 1', async () => {
  const requested = ask('select pg_sleep(600) as lost');
  await eventually('it to be requested', async () => {
    const rows = await database.query(`
      select pg_terminate_backend(pid) from pg_stat_activity
      where query like '%as lost' and state = 'active' and pid <> pg_backend_pid()`);
    return rows.length > 0;
  });
  const ended = await requested;
  expect(ended.stderr).toMatch(/terminating connection due to administrator command \(57P01\)/);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
});

test('a signal cancels the statement on the server, with exit code 130', async () => {
  const stop = new AbortController();
  const requested = call(['query', 'select pg_sleep(600) as stopped', '--timeout', '0'], {
    env: { DATABASE_URL: database.url },
    signal: stop.signal,
  });
  const isActive = async () => {
    const rows = await database.query(`
      select from pg_stat_activity
      where query like '%as stopped' and state = 'active' and pid <> pg_backend_pid()`);
    return rows.length > 0;
  };
  await eventually('it to be requested', isActive);
  stop.abort(new Error('SIGINT'));
  expect(await requested).toMatchObject({ code: 130, stdout: '', stderr: '' });
  // The error is sent a moment before the server shows the session at rest.
  await eventually('it to be cancelled', async () => !(await isActive()));
});

test('an analyst reads with their own rights only', async () => {
  const granted = await grantedDatabase();
  const { url } = await userWith(granted, roles.analyst);
  const asAnalyst = (...args: readonly string[]) =>
    call(['query', ...args], { env: { DATABASE_URL: url } });
  expect(await asAnalyst('what-is-missing')).toMatchObject({ code: 0 });
  const denied = await asAnalyst('select * from etl.walks');
  expect(denied.stderr).toMatch(/permission denied for schema etl \(42501\)/);
  expect(denied.code).toBe(2);
});

test('query refuses a table whose policies would hide rows', async () => {
  const granted = await grantedDatabase();
  const statement = 'select * from explorer.address_labels';
  const ended = await call(['query', statement], { env: { DATABASE_URL: granted.url } });
  expect(ended.stderr).toMatch(/row-level security/);
  expect(ended.code).toBe(2);
});

test('the error about a database without tables says what to do first', async () => {
  const { url } = await freshDatabase('empty');
  const ended = await call(['query', 'select 1'], { env: { DATABASE_URL: url } });
  expect(ended.stderr).toMatch(/nothing in this database yet: run sync or start first; --demo/);
  expect(ended.code).toBe(2);
});

test.each([[['query', 'select 1']], [['status']], [['open']]])(
  '%s creates no database',
  async (args) => {
    const ended = await call(args);
    expect(ended.stderr).toMatch(/there is no database yet: .* has no \.explorer-etl/);
    expect(ended.code).toBe(2);
  },
);
