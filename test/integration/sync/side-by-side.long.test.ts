import { expect, test } from 'vitest';
import type { SyncDocument } from '../../../src/cli/sync.ts';
import { simulated } from '../../harness/explorer.ts';
import { databaseAt, freshDatabase } from '../../harness/database.ts';
import { configFolder, eventually, startProgram } from '../../harness/process.ts';
import { oneEach } from '../../harness/kept.ts';
import { followLists, runSync, shortChain, smallChain } from '../../harness/sync.ts';

/** What the service charges for a request. */
const creditsPerRequest = 20;
const chain = smallChain({ userOperations: 460, factories: 210 });
const lists = ['--operation', 'user-operations', '--operation', 'factories'];

const totalsOf = (stdout: string) => (JSON.parse(stdout) as SyncDocument).totals;

test('two concurrent syncs report each row, request and credit once', async () => {
  const { query, url } = await freshDatabase();
  const areBothThere = async () => (await query('select from etl.workers')).length === 2;
  let both: Promise<void> | null = null;
  const simulator = await simulated({
    seed: 5,
    chains: [chain],
    hold: () => (both ??= eventually('both to work', areBothThere).then(() => undefined)),
  });
  const cwd = await configFolder({ explorer: { requests_per_second: 1000 } });
  const programs = [1, 2].map(() =>
    startProgram(['sync', '--chain', '10', ...lists, '--json'], {
      databaseUrl: url,
      explorerUrl: simulator.url,
      cwd,
    }),
  );
  const ends = await Promise.all(programs.map((program) => program.ended()));

  expect(ends.map(({ code }) => code)).toEqual([0, 0]);
  const [one, other] = programs.map(({ stdout }) => totalsOf(stdout));
  const rows = await query(`
    select (select count(*) from explorer.user_operations)::int
         + (select count(*) from explorer.factories)::int as n`);
  expect(rows[0]?.n).toBe(670);
  expect((one?.rows_added ?? 0) + (other?.rows_added ?? 0)).toBe(670);
  expect((one?.requests ?? 0) + (other?.requests ?? 0)).toBe(simulator.requests);
  expect((one?.credits ?? 0) + (other?.credits ?? 0)).toBe(simulator.requests * creditsPerRequest);
});

/** A command for one list, whose explorer holds its answers back until `release`. */
async function heldBack() {
  const { url, query } = await freshDatabase();
  const wait = Promise.withResolvers<void>();
  const simulator = await simulated({ seed: 5, chains: [chain], hold: () => wait.promise });
  const env = {
    databaseUrl: url,
    explorerUrl: simulator.url,
    cwd: await configFolder({ explorer: { requests_per_second: 1000 } }),
  };
  const args = ['sync', '--chain', '10', '--operation', 'factories'];
  return { query, simulator, env, args, release: wait.resolve };
}

test('a command that has nothing left to read says whom it waits for', async () => {
  const { simulator, env, args, release } = await heldBack();
  const first = startProgram(args, env);
  await eventually('the first to read', () => Promise.resolve(simulator.requests > 0));

  const second = startProgram(args, env);
  const isSaid = () => Promise.resolve(second.stderr.includes('sync.beside'));
  await eventually('the second to say it', isSaid);

  expect(second.stderr).toMatch(/10\/factories by another command of \S+ on /u);
  release();
  expect([(await first.ended()).code, (await second.ended()).code]).toEqual([0, 0]);
});

test('a command ends with the failure that another process met, and waits for no retry', async () => {
  const { query, simulator, env, args, release } = await heldBack();
  const other = startProgram(args, env);
  await eventually('the other to read', () => Promise.resolve(simulator.requests > 0));
  const command = startProgram([...args, '--json'], env);
  const isBeside = () => Promise.resolve(command.stderr.includes('sync.beside'));
  await eventually('the command to wait', isBeside);

  // As a start does after a failure: its lane backs off, and the run stays open.
  await query(`
    update etl.feeds set failure = 'unreachable', reason = 'unreachable: HTTP 503';
    update etl.runs set failures_in_a_row = 1;
    update etl.lanes set worker = null, due_at = now() + interval '10 minutes'`);

  expect((await command.ended()).code).toBe(1);
  expect((JSON.parse(command.stdout) as SyncDocument).lanes).toMatchObject([
    { state: 'failed', failure: 'unreachable', reason: 'unreachable: HTTP 503' },
  ]);
  release();
  await other.ended();
});

test('the first read of a list is split into several walks once its first page is stored', async () => {
  const { list, sync, query } = await followLists({ operations: oneEach(1, 300) });
  list.latencyMs = 20;

  await sync({ pageSize: 5, parallel: 4 });

  expect((await query('select from etl.walks where pages > 0')).length).toBeGreaterThan(1);
});

test('a request waits for an answer outside any transaction', async () => {
  const database = await freshDatabase();
  const { pool: observer } = databaseAt(database.url, 1);
  const isNoneOpen = async () => {
    const { rows } = await observer.query(
      `select from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`,
    );
    return rows.length === 0;
  };
  const answered: Promise<boolean>[] = [];
  const hold = async () => {
    answered.push(eventually('no open transaction', isNoneOpen));
    await answered.at(-1);
  };
  const simulator = await simulated({ seed: 5, chains: [shortChain], hold });

  await runSync(database, { url: simulator.url, chains: [shortChain] });

  expect(answered.length).toBeGreaterThan(6);
  await Promise.all(answered);
});
