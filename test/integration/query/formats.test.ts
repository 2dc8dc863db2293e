import { describe, expect, test } from 'vitest';
import { call } from '../../harness/process.ts';
import { sharedDatabase } from '../../harness/database.ts';

const database = sharedDatabase();

const ask = (args: readonly string[], columns?: number) =>
  call(['query', ...args], {
    env: { DATABASE_URL: database.url },
    ...(columns !== undefined && { columns }),
  });

const address = '0x31c99a50432155975da19fbb85edb43a7c5f010c';

describe('a value in --json', () => {
  const valueOf = async (expression: string): Promise<unknown> => {
    const { stdout } = await ask([`select ${expression} as value`, '--json']);
    return (JSON.parse(stdout) as { rows: { value: unknown }[] }).rows[0]?.value;
  };

  test.each<[expression: string, value: unknown]>([
    ['null', null],
    ['true', true],
    ['7::smallint', 7],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', '9007199254740992'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['1.10::numeric', '1.10'],
    [`(2::numeric ^ 256)::numeric(78)`, (2n ** 256n).toString()],
    ['0.1::float8', 0.1],
    [`'NaN'::float8`, 'NaN'],
    [`'-Infinity'::float8`, '-Infinity'],
    [`''`, ''],
    [`'a"b' || chr(10) || chr(27)`, 'a"b\n\u001b'],
    [`timestamptz '2026-10-01 02:03:04.123456+02'`, '2026-10-01T00:03:04.123456Z'],
    [`timestamptz '2026-10-01 02:03:04+00'`, '2026-10-01T02:03:04Z'],
    [`timestamp '2026-10-01 02:03:04.5'`, '2026-10-01T02:03:04.5'],
    [`timestamptz 'infinity'`, 'infinity'],
    [`date '2026-10-01'`, '2026-10-01'],
    [`interval '1 day 2:03'`, '1 day 02:03:00'],
    [`'{"a": [1, null]}'::jsonb`, { a: [1, null] }],
    [String.raw`'{"a": "b\u0085c\u007fd\u0001"}'::jsonb`, { a: 'b\u0085c\u007fd\u0001' }],
    [`'{"a":\n\t1}'::json`, { a: 1 }],
    [`(E'{\\t"a":\\r\\n1}')::json`, { a: 1 }],
    [`array[1, null, 9007199254740993]`, [1, null, '9007199254740993']],
    [
      `array[['a', 'b'], ['c', null]]`,
      [
        ['a', 'b'],
        ['c', null],
      ],
    ],
    [`array[timestamptz '2026-10-01 00:00:00+00']`, ['2026-10-01T00:00:00Z']],
    [`array['{"a": 1}'::jsonb]`, [{ a: 1 }]],
    [`'{}'::text[]`, []],
    [`decode('00ff', 'hex')`, String.raw`\x00ff`],
    [`int8range(1, 3)`, '[1,3)'],
  ])('%s', async (expression, value) => {
    expect(await valueOf(expression)).toEqual(value);
  });

  test('digits in a document stay', async () => {
    const { stdout } = await ask([`select '{"n": 123456789012345678901}'::jsonb as d`, '--json']);
    expect(stdout).toContain('123456789012345678901');
  });

  test('a line for each row', async () => {
    const { stdout } = await ask(['select n from generate_series(1, 2) as n', '--json']);
    expect(stdout).toContain('\n    {"n":1},\n    {"n":2}\n');
  });

  test('two columns of one name are refused before anything is written', async () => {
    const ended = await ask(['select 1 as n, 2 as n', '--json']);
    expect(ended.code).toBe(2);
    expect(JSON.parse(ended.stdout)).toMatchObject({ schema: 'explorer-etl/error/1' });
    expect(ended.stdout).toContain('two columns are called');
  });
});

describe('--json', () => {
  test('has the rows with their columns, types, count and exit', async () => {
    const { stdout } = await ask([
      `select n, now() as at, array['a'] as texts, '[1,2)'::int4range as r
       from generate_series(1, 3) as n`,
      '--limit',
      '2',
      '--json',
    ]);
    expect(JSON.parse(stdout)).toEqual({
      schema: 'explorer-etl/query/1',
      columns: [
        { name: 'n', type: 'integer' },
        { name: 'at', type: 'timestamp with time zone' },
        { name: 'texts', type: 'text[]' },
        { name: 'r', type: 'int4range' },
      ],
      rows: [1, 2].map((n) => ({ n, at: expect.any(String), texts: ['a'], r: '[1,2)' })),
      row_count: 2,
      cut: true,
      sums: null,
      exit: { code: 0, reason: 'done' },
    });
  });

  test('has its columns even without rows', async () => {
    const { stdout } = await ask(['select 1 as n where false', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      columns: [{ name: 'n', type: 'integer' }],
      rows: [],
      row_count: 0,
      cut: false,
    });
  });

  test('has every row in order, also across many batches', async () => {
    const many = 'select n from generate_series(1, 2500) as n';
    const { stdout } = await ask([many, '--json']);
    const { rows, row_count } = JSON.parse(stdout) as { rows: unknown[]; row_count: number };
    expect(rows).toEqual(Array.from({ length: 2500 }, (_, n) => ({ n: n + 1 })));
    expect(row_count).toBe(2500);
  });

  test('is the document of an error if the statement fails before rows are written', async () => {
    const ended = await ask(['select 1 / (n - 5) as n from generate_series(1, 9) as n', '--json']);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      schema: 'explorer-etl/error/1',
      errors: [{ kind: 'statement', code: '22012' }],
    });
    expect(ended.code).toBe(2);
  });

  test('stops midway, and is no JSON, if the statement fails after rows were written', async () => {
    const text = 'select 1 / (n - 5000) as n from generate_series(1, 9000) as n';
    const env = { DATABASE_URL: database.url };
    const ended = await call(['query', text, '--json'], { env, isBroken: true });
    expect(ended.stdout.split('\n').length).toBeGreaterThan(1_000);
    expect(ended.stdout).not.toContain('"exit"');
    expect(() => JSON.parse(ended.stdout) as unknown).toThrow(SyntaxError);
    expect(ended.code).toBe(2);
  });
});

describe('table', () => {
  test('distinguishes null from an empty text, and aligns numbers to the right', async () => {
    const { stdout, stderr } = await ask([
      `select * from (values (1, 'a', null), (20, '', 'NULL')) as t (n, a, b)`,
    ]);
    expect(stdout).toBe(' n  a  b\n 1  a  <null>\n20     NULL\n');
    expect(stderr).toBe('2 rows\n');
  });

  test('escapes control characters', async () => {
    const { stdout } = await ask(["select chr(27) || '[2J' || chr(10) as a"]);
    expect(stdout).toContain(String.raw`\u001b[2J\u000a`);
  });

  test('prints a thousand rows by default, and says that there are more', async () => {
    const cut = await ask(['select n from generate_series(1, 1001) as n']);
    expect(cut.stdout.trimEnd().split('\n')).toHaveLength(1000 + 1);
    expect(cut.stderr).toMatch(
      /^1,000 rows\nThere are more rows: a table shows 1000, --limit more/,
    );
    expect(cut.code).toBe(0);
    const whole = await ask(['select n from generate_series(1, 1000) as n']);
    expect(whole.stderr).toBe('1,000 rows\n');
  });

  test('--limit cuts it, and says so', async () => {
    const many = 'select n from generate_series(1, 3000) as n';
    const { stdout, stderr } = await ask([many, '--limit', '2']);
    expect(stdout).toMatch(/\b2\b/);
    expect(stdout).not.toMatch(/\b3\b/);
    expect(stderr).toContain('There are more rows: --limit 2 cut them.');
  });

  const widthOf = (text: string) => Math.max(...text.split('\n').map((line) => line.length));

  test('shortens text to fit a terminal, and says so; hashes keep both ends', async () => {
    const statement = `select '${address}' as hash, 1234567 as operations, now() as at`;
    const { stdout, stderr } = await ask([statement], 80);
    expect(widthOf(stdout)).toBeLessThanOrEqual(80);
    expect(stdout).toMatch(/0x31c99a[0-9a-f]*…[0-9a-f]*010c/);
    expect(stdout).toMatch(/ 1234567 /);
    expect(stderr).toMatch(/values are shortened, --json/);
    expect((await ask([statement])).stdout).toContain(address);
  });

  test('prints a block for each row if that is not enough', async () => {
    const columns = Array.from({ length: 9 }, (_, at) => `1234567890 as column_${at}`);
    const { stdout } = await ask([`select ${columns.join(', ')}, '${address}' as hash`], 80);
    expect(stdout).toMatch(/^─ 1 ─\ncolumn_0 {2}1234567890\n/);
    expect(stdout).toContain(`hash      ${address}\n`);
  });
});
