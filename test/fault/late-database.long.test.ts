import { expect, onTestFinished, test } from 'vitest';
import { urlOfDatabase } from '../harness/client.ts';
import { freshDatabase } from '../harness/database.ts';
import { configFolder, eventually, startProgram } from '../harness/process.ts';
import { plainChain } from '../harness/sync.ts';
import { openWorld } from '../harness/world.ts';

const chain = { ...plainChain, userOperations: 60 };
const operations = { 'user-operations': {} };
const config = { chains: [{ id: 10, operations }] };
/** The lock of `src/db/migrate.ts`, which every program takes first. */
const migrationLock = 0x65_78_70_6c_65_74_6cn;
/** A command whose database is behind a proxy that refuses connections. */
async function startRefused(args: readonly string[]) {
  const { database, proxy, place } = await openWorld({ seed: 1, chain, operations });
  proxy.set('refuse');
  const program = startProgram(args, { ...place, databaseUrl: proxy.url });
  const untilReported = (times: number) =>
    eventually('the log to say it', async () => {
      if (!program.isRunning) throw new Error(`it ended: ${program.stderr}`);
      return program.stderr.split('"event":"database.away"').length > times;
    });
  return { proxy, pool: database.pool, program, untilReported };
}

test('start waits for an unreachable database, and works once it answers', async () => {
  const { proxy, pool, program, untilReported } = await startRefused([
    'start',
    '--log-level',
    'debug',
  ]);
  await untilReported(2);
  proxy.set('open');
  await eventually('the feed to be copied', async () => {
    const { rows } = await pool.query('select from explorer.user_operations');
    return rows.length === chain.userOperations;
  });
  program.kill('SIGTERM');
  expect(await program.ended()).toEqual({ code: 0, signal: null });
});

test('start waits if the database is lost during the migration', async () => {
  const { proxy, pool, program, untilReported } = await startRefused([
    'start',
    '--log-level',
    'debug',
  ]);
  const other = await pool.connect();
  onTestFinished(() => other.release(true));
  await other.query('select pg_advisory_lock($1)', [String(migrationLock)]);
  proxy.set('open');
  await eventually('it to wait for its turn to migrate', async () =>
    program.stderr.includes('Waiting for another process'),
  );
  const before = program.stderr.split('"event":"database.away"').length;

  proxy.set('refuse');
  proxy.cutAll();

  await untilReported(before);
  await other.query('select pg_advisory_unlock_all()');
  proxy.set('open');
  await eventually('the feed to be copied', async () => {
    const { rows } = await pool.query<{ name: string | null }>(
      "select to_regclass('explorer.user_operations') as name",
    );
    if (rows[0]?.name === null) return false;
    const stored = await pool.query('select from explorer.user_operations');
    return stored.rowCount === chain.userOperations;
  });
  program.kill('SIGTERM');
  expect(await program.ended()).toEqual({ code: 0, signal: null });
});

test('start can be stopped while it waits for the database', async () => {
  const { program, untilReported } = await startRefused(['start', '--log-level', 'debug']);
  await untilReported(2);
  program.kill('SIGTERM');
  expect(await program.ended()).toEqual({ code: 0, signal: null });
});

test.each([
  { args: ['start'], code: 0 },
  { args: ['migrate'], code: 130 },
])('$args.0 names the session whose lock it waits for, and can be stopped', async (command) => {
  const { url, pool } = await freshDatabase();
  const other = await pool.connect();
  onTestFinished(() => other.release(true));
  await other.query('select pg_advisory_lock($1)', [String(migrationLock)]);
  const cwd = await configFolder(config);
  const environment = { databaseUrl: url, explorerUrl: 'http://127.0.0.1:1', cwd };

  const waiting = startProgram(command.args, environment);
  const pid = String(Reflect.get(other, 'processID'));
  await eventually('it to say whose', async () =>
    waiting.stderr.includes(`select pg_terminate_backend(${pid})`),
  );
  waiting.kill('SIGTERM');

  expect(await waiting.ended()).toEqual({ code: command.code, signal: null });
  expect(waiting.stderr).toContain('brings the schema up to date');
  expect(waiting.stderr).toContain('explorer-etl test');
  const lines = waiting.stderr.split('\n').filter((line) => line.includes('Waiting for'));
  expect(lines).toHaveLength(1);
});

test('start exits at once if its database does not exist', async () => {
  const { url } = await freshDatabase();
  const databaseUrl = urlOfDatabase(url, 'no_such_database');
  const cwd = await configFolder(config);
  const environment = { databaseUrl, explorerUrl: 'http://127.0.0.1:1', cwd };
  const program = startProgram(['start'], environment);
  expect(await program.ended()).toEqual({ code: 2, signal: null });
  expect(program.stderr).toContain('does not exist (3D000)');
  expect(program.stderr).not.toContain('database.away');
});

test('other commands do not wait for an unreachable database', async () => {
  const { program } = await startRefused(['sync']);
  expect(await program.ended()).toEqual({ code: 2, signal: null });
  expect(program.stderr).not.toContain('database.away');
});
