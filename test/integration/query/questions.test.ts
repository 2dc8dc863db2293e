import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { readAnswer, type Column } from '../../../src/query/read.ts';
import { questions, statementOf } from '../../../src/query/question.ts';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { call, emptyFolder } from '../../harness/process.ts';
import { operationNames } from '../../../src/lists/registry.ts';
import { recomputeSums } from '../../../src/rollups/roll.ts';
import { sharedCopy, plainChain } from '../../harness/sync.ts';
import { sumUp } from '../../harness/ledger.ts';

const chains: SimulatedChain[] = [10, 42220].map((id) => ({
  ...plainChain,
  id,
  name: `chain ${id}`,
  userOperations: 300,
  batches: { first: 1, count: 3, blocks: 60 },
  factories: 30,
  otherRankings: 20,
}));

const database = sharedCopy(7, chains, { operations: operationNames });
beforeAll(() => sumUpAll());

/** Makes the sums from nothing: the tests change rows by hand. */
async function sumUpAll(): Promise<void> {
  await recomputeSums(database.db);
  await sumUp(database.db);
}

/** What each question answers with, for people and programs that rely on it. */
const shapes: Readonly<Record<string, string>> = {
  'batches-recent':
    'chain_id bigint, batch bigint, state text, blocks bigint, transactions bigint, fill_percent numeric, last_at timestamp with time zone, l1_delay interval',
  'biggest-factories':
    'rank bigint, chain_id bigint, total_accounts bigint, address_hash text, name text',
  'bundle-sizes':
    'chain_id bigint, operations bigint, bundles bigint, percent numeric, untimed bigint, caveat text',
  'bundler-growth':
    'chain_id bigint, address_hash text, operations_before bigint, operations bigint, new_operations bigint, from timestamp with time zone, to timestamp with time zone',
  'bundler-share':
    'chain_id bigint, bundler_hash text, name text, operations bigint, percent numeric, failed bigint, failed_percent numeric, from timestamp with time zone, to timestamp with time zone, percent_known numeric, untimed bigint, caveat text',
  'busiest-hours':
    'hour integer, chain_id bigint, operations bigint, percent numeric, untimed bigint, caveat text',
  'chain-daily':
    'day date, chain_id bigint, blocks bigint, transactions bigint, gas_used numeric, fill_percent numeric, burnt_native numeric, native_symbol text, from timestamp with time zone, to timestamp with time zone, percent_known double precision',
  cohorts:
    'cohort date, chain_id bigint, later integer, senders bigint, percent numeric, caveat text, untimed bigint',
  'eip7702-share':
    'week date, chain_id bigint, operations bigint, eip7702_now bigint, percent numeric, untimed bigint, caveat text',
  'entry-points':
    'week date, chain_id bigint, version text, operations bigint, percent numeric, untimed bigint, caveat text',
  'factory-growth':
    'chain_id bigint, address_hash text, accounts_before bigint, accounts bigint, new_accounts bigint, from timestamp with time zone, to timestamp with time zone',
  'failures-daily':
    'day date, chain_id bigint, version text, operations bigint, failed bigint, failed_percent numeric, untimed bigint, caveat text',
  'fee-percentiles':
    'day date, chain_id bigint, operations bigint, p10_native numeric, p50_native numeric, p90_native numeric, p99_native numeric, native_symbol text, untimed bigint, caveat text',
  'late-arrivals':
    'chain_id bigint, operation text, key text, timestamp timestamp with time zone, seen_at timestamp with time zone, lateness interval',
  'new-senders':
    'day date, chain_id bigint, new_senders bigint, first_seen bigint, from timestamp with time zone, to timestamp with time zone, caveat text, untimed bigint',
  'operations-daily':
    'day date, chain_id bigint, operations bigint, failed bigint, fee_native numeric, mean_fee_native numeric, native_symbol text, untimed bigint, caveat text',
  'sponsored-share':
    'rank bigint, chain_id bigint, address_hash text, name text, total_ops bigint, paid_of_known bigint, known_operations bigint, percent numeric, percent_up_to numeric, from timestamp with time zone, to timestamp with time zone, caveat text, untimed bigint',
  'top-senders':
    'chain_id bigint, address_hash text, name text, operations bigint, failed bigint, fee_native numeric, native_symbol text, untimed bigint, caveat text',
  'wallet-failures':
    'kind_now text, chain_id bigint, operations bigint, failed bigint, failed_percent numeric, untimed bigint, caveat text',
  'weekly-actives':
    'week date, chain_id bigint, operations bigint, senders bigint, new_senders bigint, untimed bigint, caveat text',
  'what-is-missing':
    'feed text, unit text, newest_at timestamp with time zone, looked_at timestamp with time zone, is_fresh boolean, covered_to bigint, gaps bigint, missing bigint',
};

/** A simulated chain that stands still has no row of it. */
const unanswered: ReadonlySet<string> = new Set(['late-arrivals']);

type Given = Parameters<typeof statementOf>[1];

async function answerTo(name: string, given: Given = {}) {
  const question = questions().find((one) => one.name === name);
  if (question === undefined) throw new Error(`no question ${name}`);
  let columns: readonly Column[] = [];
  const rows: Record<string, string | null>[] = [];
  const bounds = { timeoutMs: 0, limit: null, signal: new AbortController().signal };
  for await (const piece of readAnswer(database.pool, statementOf(question, given), bounds)) {
    ({ columns } = piece);
    const names = columns.map(({ name: key }) => key);
    rows.push(
      ...piece.rows.map((row) => Object.fromEntries(names.map((key, at) => [key, row[at]!]))),
    );
  }
  return { columns, rows };
}

test('every question has expected columns here, and no other name has', () => {
  expect(Object.keys(shapes)).toEqual(questions().map(({ name }) => name));
});

test('every file of questions/ is a question', async () => {
  const files = await readdir(join(import.meta.dirname, '../../../questions'));
  expect(questions().map(({ name }) => `${name}.sql`)).toEqual(files.toSorted());
});

describe.each(questions())('$name', ({ name, question, parameters, chart, text }) => {
  test('says what it answers, in a line of a terminal', () => {
    expect(question).toMatch(/\?$/);
    const names = Object.keys(shapes).map((one) => one.length);
    expect(Math.max(...names) + 2 + question.length).toBeLessThanOrEqual(80);
  });

  test('uses each of its parameters, and no other', () => {
    const body = text.replaceAll(/^--.*$/gmu, '');
    const used = [...body.matchAll(/(?<!:):([a-z]+)/gu)].map(([, one]) => one);
    expect(new Set(used)).toEqual(new Set(parameters.map((one) => one.name)));
    expect(parameters.map((one) => one.name)).toContain('chain');
  });

  test('has the expected columns, and rows', async () => {
    const { columns, rows } = await answerTo(name);
    const types = await database.query(
      'select format_type(oid, null) as name from unnest($1::oid[]) with ordinality as t (oid, at) order by at',
      [columns.map(({ type }) => type)],
    );
    const shape = columns.map((one, at) => `${one.name} ${types[at]?.name}`);
    expect(shape.join(', ')).toBe(shapes[name]);
    expect(rows.length > 0).toBe(!unanswered.has(name));
    const drawn = [chart?.x, chart?.y, chart?.series].flatMap((one) => one ?? []);
    expect(columns.map((one) => one.name)).toEqual(expect.arrayContaining(drawn));
  });

  test('answers for one chain with --chain', async () => {
    const { rows } = await answerTo(name, { chain: 10 });
    const chainOf = ({ chain_id: id, feed }: Record<string, string | null>) =>
      id ?? feed?.split('/')[0];
    expect(rows.map(chainOf).filter((id) => id !== '10')).toEqual([]);
    expect(rows.length > 0).toBe(!unanswered.has(name));
    expect((await answerTo(name, { chain: 11 })).rows).toEqual([]);
  });
});

const sum = (rows: readonly Record<string, string | null>[], column: string) =>
  rows.reduce((total, row) => total + Number(row[column]), 0);

/** How many operations have a time that is known. */
async function timed(chain: number | null = null): Promise<number> {
  const rows = await database.query(
    `select count(*) from explorer.operations_enriched
     where block_time is not null and ($1::bigint is null or chain_id = $1)`,
    [chain],
  );
  return Number(rows[0]?.count);
}

describe('the answers', () => {
  test.each([
    'operations-daily',
    'failures-daily',
    'entry-points',
    'busiest-hours',
    'eip7702-share',
    'wallet-failures',
    'weekly-actives',
  ])('of %s count every operation once', async (name) => {
    expect(sum((await answerTo(name)).rows, 'operations')).toBe(await timed());
    expect(sum((await answerTo(name, { chain: 10 })).rows, 'operations')).toBe(await timed(10));
  });

  test('leave out operations that left the list', async () => {
    const before = await timed();
    const rows = await database.query(`
      update explorer.user_operations set removed_at = now()
      where hash = (select max(hash) from explorer.user_operations where timestamp is not null) returning hash`);
    await sumUpAll();
    expect(sum((await answerTo('operations-daily')).rows, 'operations')).toBe(before - 1);
    expect(sum((await answerTo('busiest-hours')).rows, 'operations')).toBe(before - 1);
    await database.query('update explorer.user_operations set removed_at = null where hash = $1', [
      rows[0]?.hash,
    ]);
  });

  test('go back so many days from the newest operation', async () => {
    const age = (days: number) =>
      database.pool.query(
        `update explorer.user_operations
         set timestamp = (timestamp at time zone 'UTC' - make_interval(days => $1)) at time zone 'UTC'
         where chain_id = 10 and block_number < (
           select max(block_number) from explorer.user_operations where chain_id = 10
         )`,
        [days],
      );
    await age(3);
    await sumUpAll();
    const daysOf = async (days: number) =>
      new Set((await answerTo('operations-daily', { chain: 10, days })).rows.map(({ day }) => day))
        .size;
    expect([await daysOf(1), await daysOf(3), await daysOf(4)]).toEqual([1, 1, 2]);
    await age(-3);
  });

  test('of new-senders count every sender once', async () => {
    const rows = await database.query(`
      select count(distinct (chain_id, sender)) as senders from explorer.operations_enriched
      where block_time is not null and sender is not null`);
    await sumUpAll();
    expect(sum((await answerTo('new-senders')).rows, 'new_senders')).toBe(Number(rows[0]?.senders));
  });

  test('of weekly-actives and cohorts count an account once a period, whatever versions it uses', async () => {
    const rows = await database.query(`
      select sum(distinct_senders) filter (where unit = 'week') as week,
             sum(distinct_senders) filter (where unit = 'month') as month
      from (
        select unit, count(distinct sender) as distinct_senders
        from explorer.operations_enriched, unnest(array['week', 'month']) as unit
        where block_time is not null and chain_id = 10
        group by unit, date_trunc(unit, block_time at time zone 'UTC')
      ) as periods`);
    const weeks = (await answerTo('weekly-actives', { chain: 10, days: 5000 })).rows;
    expect(sum(weeks, 'senders')).toBe(Number(rows[0]?.week));
    const months = (await answerTo('cohorts', { chain: 10, days: 5000 })).rows;
    expect(sum(months, 'senders')).toBe(Number(rows[0]?.month));
    expect(months.filter(({ later }) => later === '0').map(({ percent }) => percent)).toEqual(
      expect.arrayContaining(['100.0']),
    );
  });

  test('of fee-percentiles are paid fees, in ascending order', async () => {
    const { rows } = await answerTo('fee-percentiles', { chain: 10 });
    for (const row of rows) {
      const spread = ['p10_native', 'p50_native', 'p90_native', 'p99_native'].map((one) =>
        Number(row[one]),
      );
      expect(spread).toEqual(spread.toSorted((a, b) => a - b));
      expect(spread[0]).toBeGreaterThan(0);
    }
  });

  test('of top-senders are as many as are requested, the busiest first', async () => {
    const { rows } = await answerTo('top-senders', { limit: 3 });
    const counts = rows.map(({ operations }) => Number(operations));
    expect(counts).toHaveLength(3);
    expect(counts).toEqual(counts.toSorted((a, b) => b - a));
  });

  test('of bundler-share and bundle-sizes count every operation of a known time and every bundle', async () => {
    const rows = await database.query(
      `select count(*) as bundles, sum(total_ops) as held from explorer.bundles`,
    );
    const sizes = (await answerTo('bundle-sizes')).rows;
    expect(sum(sizes, 'bundles')).toBe(Number(rows[0]?.['bundles']));
    expect(
      sizes.reduce((total, row) => total + Number(row['operations']) * Number(row['bundles']), 0),
    ).toBe(Number(rows[0]?.['held']));
    const shares = (await answerTo('bundler-share', { chain: 10, limit: 1000 })).rows;
    expect(sum(shares, 'operations')).toBe(await timed(10));
    expect(sum(shares, 'percent')).toBeCloseTo(100, 0);
  });

  test('of factory-growth compare with the count as the period began, and report from when', async () => {
    const rows = await database.query(
      `select address_hash, total_accounts from explorer.factory_history where chain_id = 10 limit 1`,
    );
    const [one] = rows;
    await database.query(
      `insert into explorer.factory_history (chain_id, address_hash, observed_at, total_accounts, page_id)
       select 10, $1, now() + make_interval(days => days), $2::bigint + added, 1
       from (values (10, 100), (50, 500), (60, 900)) as t (days, added)`,
      [one?.address_hash, one?.total_accounts],
    );
    const growthOf = async (days: number) => {
      const [first] = (await answerTo('factory-growth', { days, limit: 1 })).rows;
      const [from, to] = [first?.['from'], first?.['to']].map((at) => Date.parse(`${at}:00`));
      const reported = Math.round(((to ?? 0) - (from ?? 0)) / 86_400_000);
      return [first?.address_hash, first?.new_accounts, reported];
    };
    // Each from the ranking with which it compares.
    expect(await growthOf(30)).toEqual([one?.address_hash, '800', 50]);
    expect(await growthOf(5)).toEqual([one?.address_hash, '400', 10]);
    expect(await growthOf(365)).toEqual([one?.address_hash, '900', 60]);
  });
});

const ask = (...args: readonly string[]) =>
  call(['query', ...args], { env: { DATABASE_URL: database.url } });

describe('the command', () => {
  test('lists them, for people and for programs', async () => {
    const { stdout } = await call(['query', '--list']);
    expect(stdout).toMatch(/^top-senders .*\?\n +--chain all {2}--days 7 {2}--limit 20$/m);
    const { questions: listed } = JSON.parse(
      (await call(['query', '--list', '--json'])).stdout,
    ) as {
      questions: object[];
    };
    expect(listed).toHaveLength(Object.keys(shapes).length);
    expect(listed).toContainEqual({
      name: 'biggest-factories',
      question: expect.stringMatching(/\?$/),
      parameters: [
        { name: 'chain', default: null, meaning: expect.any(String) },
        { name: 'limit', default: 20, meaning: expect.any(String) },
      ],
    });
  });

  test('answers one by its name and flags', async () => {
    const ended = await ask('biggest-factories', '--chain', '10', '--limit', '2', '--json');
    const { rows } = JSON.parse(ended.stdout) as { rows: { rank: number; chain_id: number }[] };
    expect(rows.map(({ rank, chain_id: id }) => [rank, id])).toEqual([
      [1, 10],
      [2, 10],
    ]);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });

  test('says up to when the sums are that a statement reads', async () => {
    await sumUpAll();
    const statement = 'select count(*) from explorer.operations_daily';
    const state = async (...args: readonly string[]) =>
      (JSON.parse((await ask('--json', ...args)).stdout) as { sums: object | null }).sums;
    expect((await ask('operations-daily')).stderr).toMatch(/rows; sums up to \d\d:\d\d UTC\n/);
    expect(await state(statement)).toEqual({
      up_to: expect.any(String),
      stale: 0,
      sentence: expect.stringMatching(/^sums up to/),
    });
    expect(await state('select senders from (values (1)) as explored (senders)')).toBeNull();
    await recomputeSums(database.db);
    expect((await ask(statement)).stderr).toMatch(/without the pages that were stored since/);
    await database.query('update etl.rollups set read_to = null');
    expect((await ask(statement)).stderr).toMatch(/1 row; there are no sums yet: start and sync/);
    await sumUp(database.db);
  });

  test('prints the statement of one', async () => {
    const { stdout } = await call(['query', 'top-senders', '--sql']);
    expect(stdout).toBe(questions().find(({ name }) => name === 'top-senders')?.text);
  });

  test.each([
    [['top-sender'], /no query top-sender\. Did you mean top-senders\?/],
    [
      ['biggest-factories', '--days', '3'],
      /biggest-factories does not take --days: it has --chain, --limit/,
    ],
    [
      ['biggest-factories', '--chain', '8453'],
      /--chain 8453: this database has no such chain; stored: 10 \(optimism\), 42220 \(celo\)/,
    ],
    [['top-senders', '--days', '99999999'], /--days.*from 1 to 36500/],
    [['top-senders', '--days', '999999w'], /--days.*whole days.* up to 36500/],
    [['select 1', '--chain', '10'], /a statement does not take --chain/],
    [['select 1', '--file', 'x.sql'], /exclude each other/],
    [['--file', 'x.sql'], /cannot read x\.sql/],
    [[], /nothing to run/],
    [['select 1', '--timeout', 'soon'], /--timeout.*It is a time such as 30s/],
    [['select 1', '--demo'], /--demo is of the embedded Postgres/],
  ])('refuses %j', async (args, message) => {
    const ended = await ask(...args);
    expect(ended.stderr).toMatch(message);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
  });

  test('answers the statement of a file, with its own parameters', async () => {
    const cwd = await emptyFolder();
    await writeFile(
      join(cwd, 'mine.sql'),
      "-- How many?\n--\n-- :chain = all  number of the chain\nselect :chain::bigint as chain, 'a:b' as text;\n",
    );
    await writeFile(join(cwd, 'other.sql'), '-- What?\n-- :colour = red  a colour\nselect 1;\n');
    const askFile = (...args: readonly string[]) =>
      call(['query', '--json', '--file', ...args], {
        env: { DATABASE_URL: database.url },
        cwd,
      });
    expect(JSON.parse((await askFile('mine.sql', '--chain', '7')).stdout)).toMatchObject({
      rows: [{ chain: 7, text: 'a:b' }],
    });
    expect(JSON.parse((await askFile('mine.sql')).stdout)).toMatchObject({
      rows: [{ chain: null, text: 'a:b' }],
    });
    const other = await askFile('other.sql');
    expect(other.stdout).toMatch(/a parameter :colour; there are :chain, :days, :limit/);
    expect(other.code).toBe(2);
  });
});
