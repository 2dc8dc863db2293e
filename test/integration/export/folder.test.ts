import { chown, mkdir, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { call, emptyFolder, eventually, startProgram } from '../../harness/process.ts';
import {
  freshDatabase,
  type OpenDatabase,
  sharedDatabase,
  type TestDatabase,
} from '../../harness/database.ts';
import { openLake } from './lake.ts';

/** Puts so many operations on each of three days. */
const fillThreeDays = ({ query }: OpenDatabase, operations: number) =>
  query(
    `insert into explorer.user_operations
       (chain_id, hash, "timestamp", fee, address_hash, first_seen_at, updated_at, page_id)
     select 10, '0x' || encode(sha256(n::text::bytea), 'hex'),
            timestamptz '2026-01-01' + (n % 3) * interval '1 day', n, '0x' || md5(n::text),
            now(), now(), 1
     from generate_series(1, $1::int * 3) as n`,
    [operations],
  );

/** A database with so many operations on each of three days. */
async function threeDays(operations: number): Promise<TestDatabase> {
  const database = await freshDatabase();
  await fillThreeDays(database, operations);
  return database;
}

/** More than an export writes before a signal meets it. */
const large = sharedDatabase((database) => fillThreeDays(database, 20_000));

const pathOf = (day: number) => `user_operations/chain_id=10/day=2026-01-0${day}/data.parquet`;

test('only the chosen relations are exported', async () => {
  const lake = await openLake(await threeDays(2));
  const chosen = ['user_operations', '--chain', '10', '--since', '2026-01-02', '--until'];

  const outcomes = await lake.exported([...chosen, '2026-01-02']);

  expect(outcomes.get('user_operations')).toMatchObject({ rows: 2, files: 1 });
  expect(await lake.paths()).toEqual([pathOf(2)]);
});

test('--overwrite without limits replaces all of a relation, and leaves nothing else', async () => {
  const database = await threeDays(2);
  const lake = await openLake(database);
  await lake.exported(['user_operations']);
  expect(await lake.run(['user_operations'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/not empty: name a new folder, or add --overwrite/u),
  });
  await database.query(`delete from explorer.user_operations where "timestamp" = '2026-01-01'`);

  await lake.exported(['user_operations', '--overwrite']);

  expect(await lake.paths()).toEqual([pathOf(2), pathOf(3)]);
  expect(await lake.left()).toEqual([]);
});

test('a folder whose parents are missing is made, and an empty one is used', async () => {
  const database = await threeDays(1);
  const lake = await openLake(database);
  await mkdir(lake.folder);
  await lake.exported(['user_operations']);
  const below = join(lake.folder, '..', 'a', 'b');
  const env = { DATABASE_URL: database.url };
  expect((await call(['export', 'user_operations', '--to', below], { env })).code).toBe(0);
});

test.each([
  ['a file of another program', (folder: string) => writeFile(join(folder, 'notes.txt'), 'mine')],
  [
    'a symbolic link in the place of data',
    async (folder: string) => {
      const link = join(folder, 'addresses/data.parquet');
      await mkdir(dirname(link));
      await symlink('/etc/hostname', link);
    },
  ],
  ['data that no export made', (folder: string) => rm(join(folder, '.explorer-etl-export'))],
])('--overwrite refuses a folder that holds %s', async (_what, change) => {
  const lake = await openLake(await threeDays(1));
  await lake.exported(['user_operations']);
  await change(lake.folder);
  const before = await lake.paths();

  expect(await lake.run(['user_operations', '--overwrite'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/holds .* that no export made/u),
  });
  expect(await lake.paths()).toEqual(before);
});

test.runIf(process.geteuid?.() === 0)(
  "another user's folder is not replaced, as they could put links into what is deleted",
  async () => {
    const lake = await openLake(await threeDays(1));
    await lake.exported(['user_operations']);
    await chown(lake.folder, 12_345, 12_345);
    const before = await lake.paths();

    expect(await lake.run(['user_operations', '--overwrite'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is another user's/u),
    });
    expect(await lake.paths()).toEqual(before);
  },
);

test('a symbolic link instead of the folder is not followed', async () => {
  const lake = await openLake(await threeDays(1));
  const outside = await emptyFolder();
  await symlink(outside, lake.folder);

  expect(await lake.run(['--overwrite'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/is not a folder/u),
  });
  expect(await readdir(outside)).toEqual([]);
});

test('a folder that cannot be made is named with the reason', async () => {
  const { url } = await threeDays(1);

  const to = join(await emptyFolder(), 'x'.repeat(300));
  expect(await call(['export', '--to', to], { env: { DATABASE_URL: url } })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/x: name too long\.\n$/u),
  });
});

/** Starts an export of many rows over an earlier one, and waits until it writes. */
async function writing() {
  const lake = await openLake(large);
  await lake.exported(['chains']);
  const program = startProgram(['export', 'user_operations', '--to', lake.folder, '--overwrite'], {
    databaseUrl: large.url,
    explorerUrl: 'http://localhost:1',
    cwd: '/',
  });
  await eventually(
    'a file of a day to be written',
    async () => {
      const [name = ''] = await lake.left();
      const table = join(lake.folder, name, 'user_operations');
      return (await readdir(table).catch(() => [])).length > 0;
    },
    { everyMs: 2 },
  );
  return { lake, program };
}

test('an export that is killed leaves the earlier one unchanged, and the next run replaces it', async () => {
  const { lake, program } = await writing();
  const before = await lake.paths();
  program.kill('SIGKILL');
  expect(await program.ended()).toMatchObject({ signal: 'SIGKILL' });
  expect(await lake.paths()).toEqual(before);

  await lake.exported(['user_operations', '--overwrite']);

  expect(await lake.paths()).toEqual([...before, pathOf(1), pathOf(2), pathOf(3)]);
  expect(await lake.left()).toEqual([]);
});

test('a second export to a folder is refused while the first one writes, and harms nothing', async () => {
  const { lake, program } = await writing();
  const before = await lake.paths();
  const left = await lake.left();
  program.kill('SIGSTOP');

  expect(await lake.run(['user_operations', '--overwrite'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /process \d+ exports to \S+ now: wait until it ends, or name another folder\. If it is no export, delete \S+\.$/mu,
    ),
  });
  expect(await lake.paths()).toEqual(before);
  expect(await lake.left()).toEqual(left);

  program.kill('SIGCONT');
  expect(await program.ended()).toMatchObject({ code: 0 });
  expect(await lake.paths()).toEqual([...before, pathOf(1), pathOf(2), pathOf(3)]);
  expect(await lake.left()).toEqual([]);
});

test('exports that begin at once to one folder end well or are refused, and leave it whole', async () => {
  const database = await threeDays(20);
  const lake = await openLake(database);
  await lake.exported(['chains']);
  const before = await lake.paths();
  const place = { databaseUrl: database.url, explorerUrl: 'http://localhost:1', cwd: '/' };
  const args = ['export', 'user_operations', '--to', lake.folder, '--overwrite'];
  const ended = await Promise.all([1, 2, 3].map(async () => startProgram(args, place).ended()));

  // The second may begin when the first has ended.
  const codes = ended.map(({ code }) => code);
  expect([0, 2]).toEqual(expect.arrayContaining(codes));
  const all = codes.includes(0) ? [...before, pathOf(1), pathOf(2), pathOf(3)] : before;
  expect(await lake.paths()).toEqual(all);
  expect(await lake.left()).toEqual([]);
});

test('an export that is interrupted exits with 130, and leaves only the earlier one', async () => {
  const { lake, program } = await writing();
  const before = await lake.paths();
  program.kill('SIGINT');
  expect(await program.ended()).toMatchObject({ code: 130 });
  expect(await lake.paths()).toEqual(before);
  expect(await lake.left()).toEqual([]);
});

test('--query writes the result of a question or a statement to one file', async () => {
  const lake = await openLake(await threeDays(2));
  const statement = 'select sum(fee) as fee from explorer.user_operations';
  await lake.exported(['--query', statement, '--format', 'csv']);
  expect(await readFile(join(lake.folder, 'query/data.csv'), 'utf8')).toBe('fee\n21\n');

  await lake.exported(['--query', 'top-senders', '--chain', '10', '--overwrite']);
  expect(await lake.paths()).toEqual(['query/data.csv', 'top-senders/data.parquet']);
});

test.each([
  [['user_operation'], /no table or view user_operation:/u],
  [['--chain', 'optimsm'], /did you mean optimism \(10\)/u],
  [['--since', 'yesterday'], /not a date or time .*such as 7d/u],
  [['--query', 'top-senders', '--chain', '1', '--chain', '2'], /one --chain at most/u],
  [
    ['--query', 'entry-points', '--until', '2026-02-01'],
    /no names, --since, --until or --changed/u,
  ],
  [['--query', 'delete from explorer.blocks'], /only reads/u],
])('wrong use is refused with a message, and nothing is written: %j', async (args, message) => {
  const lake = await openLake(await freshDatabase());
  const { code, stderr } = await lake.run(args);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  expect(await readdir(dirname(lake.folder))).toEqual([]);
});
