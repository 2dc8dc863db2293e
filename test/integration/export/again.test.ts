import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ageRows, copiedChains, openLake } from './lake.ts';

const unchanged = { written: 0, removed: 0 };

test('nothing changed: no file is touched, and each is told to be as of now', async () => {
  const database = await copiedChains();
  const lake = await openLake(database);
  const first = await lake.exported();
  const before = await lake.files('user_operations');
  const inode = async (path: string) => (await stat(join(lake.folder, path))).ino;
  const inodes = await Promise.all(before.map(({ path }) => inode(path)));

  const second = await lake.exported();

  const names = ['user_operations', 'blocks', 'addresses', 'factories', 'listed_batches'];
  for (const name of names) {
    const { rows, written } = first.get(name) ?? {};
    expect(second.get(name)).toMatchObject({ ...unchanged, rows, kept: written });
  }
  const after = await lake.files('user_operations');
  expect(await Promise.all(after.map(({ path }) => inode(path)))).toEqual(inodes);
  for (const [at, file] of after.entries()) {
    const then = before[at];
    expect(file).toEqual({ ...then, as_of: file.as_of });
    expect(Date.parse(file.as_of)).toBeGreaterThan(Date.parse(then?.as_of ?? ''));
  }
});

test('a row that changed, one that moved and one that was deleted: their files are written, and no others', async () => {
  const database = await copiedChains();
  const { pool } = database;
  await pool.query(
    `update explorer.user_operations as op
     set "timestamp" = timestamptz '2026-01-01' + number * interval '1 day'
     from (
       select hash, row_number() over (order by hash) % 5 as number
       from explorer.user_operations where chain_id = 10
     ) as numbered
     where numbered.hash = op.hash and chain_id = 10`,
  );
  const lake = await openLake(database);
  await lake.exported(['user_operations', '--chain', '10']);
  const dayOf = (number: number) => `2026-01-0${number + 1}`;
  const one = (number: number) =>
    `hash = (select min(hash) from explorer.user_operations
             where "timestamp" = '${dayOf(number)}' and chain_id = 10)`;

  await pool.query(
    `update explorer.user_operations set removed_at = now(), updated_at = now() where ${one(0)}`,
  );
  // As the loader moves one: where it was nothing tells of it.
  await pool.query(
    `update explorer.user_operations set "timestamp" = '${dayOf(2)}', updated_at = now() where ${one(1)}`,
  );
  await pool.query(`delete from explorer.user_operations where ${one(3)}`);
  const before = await lake.files('user_operations');
  const second = await lake.exported(['user_operations', '--chain', '10']);

  expect(second.get('user_operations')).toMatchObject({ written: 4, kept: 1, removed: 0 });
  const after = await lake.files('user_operations');
  const changes = after.map(({ day, rows, sha256 }, at) => ({
    day,
    rows: rows - (before[at]?.rows ?? 0),
    isNew: sha256 !== before[at]?.sha256,
  }));
  expect(changes).toEqual([
    { day: dayOf(0), rows: 0, isNew: true },
    { day: dayOf(1), rows: -1, isNew: true },
    { day: dayOf(2), rows: 1, isNew: true },
    { day: dayOf(3), rows: -1, isNew: true },
    { day: dayOf(4), rows: 0, isNew: false },
  ]);

  await pool.query(
    `delete from explorer.user_operations where "timestamp" = '${dayOf(4)}' and chain_id = 10`,
  );
  const third = await lake.exported(['user_operations', '--chain', '10']);

  expect(third.get('user_operations')?.removed).toBe(1);
  expect((await lake.files('user_operations')).map(({ day }) => day)).not.toContain(dayOf(4));
  expect((await lake.paths()).some((path) => path.includes(dayOf(4)))).toBe(false);
});

test('what was under way during the first run is in the second, though its time is older', async () => {
  const database = await copiedChains();
  const lake = await openLake(database);
  const late = await database.pool.connect();
  try {
    await late.query('begin');
    const { rows } = await late.query<{ chain_id: string; day: string }>(
      `update explorer.user_operations set fee = 77, updated_at = now()
       where hash = (select min(hash) from explorer.user_operations)
       returning chain_id::text, (timestamp at time zone 'UTC')::date::text as day`,
    );
    await lake.exported(['user_operations']);
    const before = await lake.files('user_operations');
    await late.query('commit');
    await lake.exported(['user_operations']);

    const changed = (await lake.files('user_operations')).filter(
      ({ sha256 }, at) => sha256 !== before[at]?.sha256,
    );
    expect(changed).toMatchObject(rows);
  } finally {
    late.release(true);
  }
});

test('what changed after the clock was set back is written', async () => {
  const database = await copiedChains();
  const lake = await openLake(database);
  await lake.exported(['factories']);
  const path = join(lake.folder, 'manifest.json');
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replaceAll(/"as_of": "[^"]*"/gu, '"as_of": "2100-01-01T00:00:00Z"'));
  await database.pool.query('update explorer.factories set total_accounts = 7, updated_at = now()');

  const again = await lake.exported(['factories']);

  expect(again.get('factories')).toMatchObject({ written: 2, kept: 0 });
});

test('a file that is not what the manifest says is written again; one that nobody tells of goes', async () => {
  const database = await copiedChains();
  const lake = await openLake(database);
  await lake.exported(['addresses', 'factories']);
  const before = await lake.files('addresses');
  const [first, second] = before.map(({ path }) => join(lake.folder, path));
  await writeFile(first ?? '', 'PAR1');
  await rm(second ?? '');
  await writeFile(join(lake.folder, 'factories', 'chain_id=10', '.data.parquet.unfinished'), '');
  await writeFile(join(lake.folder, 'factories', 'data.parquet'), '');
  await writeFile(join(lake.folder, 'factories', 'notes.txt'), 'mine');

  await lake.exported(['addresses', 'factories']);

  expect((await lake.files('addresses')).map(({ sha256 }) => sha256)).toEqual(
    before.map(({ sha256 }) => sha256),
  );
  expect((await lake.paths()).filter((path) => path.startsWith('factories/'))).toEqual([
    'factories/chain_id=10/data.parquet',
    'factories/chain_id=8453/data.parquet',
    'factories/notes.txt',
  ]);
});

test.each([
  ['--since', '2026-01-01'],
  ['--until', '2100-01-01'],
  ['--chain', '10', '--since', '2026-01-01', '--until', '2100-01-01'],
])('all tables by a choice: %s %s', async (...choice) => {
  const lake = await openLake(await copiedChains());
  const outcomes = await lake.exported(choice);
  const relations = (await lake.manifest()).relations.filter(({ layout }) => layout !== 'whole');
  const chains = choice.includes('--chain') ? ['10'] : ['10', '8453'];
  for (const name of ['addresses', 'blocks', 'factories', 'user_operations']) {
    expect(outcomes.get(name)?.rows, name).toBeGreaterThan(0);
    const { files = [] } = relations.find((one) => one.name === name) ?? {};
    expect(new Set(files.map((file) => file.chain_id)), name).toEqual(new Set(chains));
  }
});

test('a choice of chains and days leaves the other files as they are', async () => {
  const database = await copiedChains();
  const lake = await openLake(database);
  await lake.exported(['user_operations']);
  const before = await lake.files('user_operations');
  await ageRows(database);
  await database.pool.query('update explorer.user_operations set updated_at = now()');
  const last = before.findLast((file) => file.chain_id === '10' && file.day !== null);
  const day = last?.day ?? '';

  const chosen = ['user_operations', '--chain', 'optimism', '--since', day, '--until', day];
  const outcome = (await lake.exported(chosen)).get('user_operations');

  // What tells no time is in every choice.
  const asked = before.filter(
    (file) => file.chain_id === '10' && (file.day === day || file.day === null),
  );
  expect(asked.length).toBeLessThan(before.length);
  expect(outcome).toMatchObject({ written: asked.length, kept: 0, removed: 0 });
  const changed = (await lake.files('user_operations')).filter(
    (file, at) => file.as_of !== before[at]?.as_of,
  );
  expect(changed.map(({ path }) => path)).toEqual(asked.map(({ path }) => path));
});

test('wrong use is told in a message, and nothing is written', async () => {
  const database = await copiedChains();
  const lake = await openLake(database);
  expect(await lake.run(['user_operation'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /no table or view user_operation.* Did you mean user_operations\?/u,
    ),
  });
  await lake.exported(['chains']);
  const before = await lake.paths();

  for (const [args, message] of [
    [['--format', 'csv'], /holds an export as parquet/u],
    [['--chain', 'optimsm'], /did you mean optimism \(10\)/u],
    [['--since', 'yesterday'], /not a date or time .*such as 7d/u],
    [['--since', '2026-02-02', '--until', '2026-02-01'], /is after/u],
    [['top-senders', '--chain', '1', '--chain', '2'], /one --chain at most/u],
    [['entry-points', '--since', '2d', '--until', '2026-02-01'], /takes no --until|--since/u],
  ] as const) {
    const { code, stderr } = await lake.run(args);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
  }
  expect(await lake.paths()).toEqual(before);

  await database.pool.query('alter table explorer.factories add column more text');
  const other = await openLake(database);
  await other.exported(['factories']);
  await database.pool.query('alter table explorer.factories drop column more');
  expect(await other.run(['factories'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/factories has other columns now/u),
  });
  await rm(join(other.folder, 'manifest.json'));
  expect(await other.run(['factories'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/not empty and has no manifest/u),
  });
});
