import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { openDuckDb } from './duckdb.ts';
import { openLake } from './lake.ts';

/** What no format may trip over. */
const hostile = [
  '',
  ' ',
  'NULL',
  'null',
  'a,b;c\td',
  '"',
  '""',
  `it's "quoted", twice`,
  'two\nlines',
  'two\r\nlines\r',
  '\\N',
  '\\',
  '=1+1',
  'é😀 \u202e\u0001',
  '\ufeffbom',
  'x'.repeat(70_000),
];

test.each(['parquet', 'csv'])('every text is read back from %s unchanged', async (format) => {
  const database = await freshDatabase();
  await database.query(
    `insert into explorer.addresses (chain_id, hash, name, extra, first_seen_at, updated_at, page_id)
     select 10, lpad(place::text, 3, '0'), name, jsonb_build_object('was', name, 'n', 123456789012345678901), now(), now(), 1
     from unnest($1::text[]) with ordinality as given (name, place)`,
    [[...hostile, null]],
  );
  const lake = await openLake(database);
  const ask = await openDuckDb();

  await lake.exported(['addresses', '--format', format]);

  const path = `${lake.folder}/addresses/chain_id=10/data.${format}`;
  const source =
    format === 'csv'
      ? `read_csv('${path}', header = true, all_varchar = true, allow_quoted_nulls = false, quote = '"', escape = '"', delim = ',', new_line = '\\n', strict_mode = true)`
      : `'${path}'`;
  const rows = await ask(
    `select hex(name) as name, hex(extra->>'$.was') as was, extra->>'$.n' as n from ${source} order by hash`,
  );
  const bytes = [...hostile.map((text) => Buffer.from(text).toString('hex').toUpperCase()), null];
  expect(rows.map(({ name }) => name)).toEqual(bytes);
  expect(rows.map(({ was }) => was)).toEqual(bytes);
  expect(new Set(rows.map(({ n }) => n))).toEqual(new Set(['123456789012345678901']));
});

/** What a spreadsheet runs, or hides the start of: at a cell's start, and after what some take for a separator. */
const formulas = [
  '=HYPERLINK("https://evil.example","open")',
  '+1+1',
  '-1+1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
  '＝1',
  '＋1',
  '－1',
  '＠1',
  'a;=1+1',
  'a\t@x',
  'a\r\n-1',
  'a",=1',
];
const cells =
  "read_csv('PATH', header = true, all_varchar = true, allow_quoted_nulls = false, quote = '\"', escape = '\"', delim = ',', new_line = '\\n', strict_mode = true)";

test('no text exported for a spreadsheet is a formula, and numbers are unchanged', async () => {
  const database = await freshDatabase();
  const lake = await openLake(database);
  const ask = await openDuckDb();
  const list = formulas.map((text) => `e'${text.replaceAll("'", "''")}'`).join(', ');
  const query = `select name as "=name", array[name] as names, to_jsonb(name) as document, -5 as i, -1.5::float8 as f,
    -7::numeric as n, -8::bigint as b, '-infinity'::float8 as infinite, interval '-1 day' as gone, null as nothing,
    '' as empty, 'plain - text = 1' as plain from unnest(array[${list}]) with ordinality as given (name, at) order by at`;

  await lake.exported(['--query', query, '--format', 'spreadsheet']);

  const rows = await ask(`select * from ${cells.replace('PATH', `${lake.folder}/query/data.csv`)}`);
  expect(rows).toHaveLength(formulas.length);
  const start = /(?:^|[;\t\r\n])[=+\-@\t\r\n＝＋－＠]/u;
  for (const [at, { i, f, n, b, infinite, nothing, empty, plain, ...texts }] of rows.entries()) {
    expect([i, f, n, b, infinite]).toEqual(['-5', '-1.5', '-7', '-8', '-Infinity']);
    expect([nothing, empty, plain]).toEqual([null, '', 'plain - text = 1']);
    const all = [...Object.keys(texts), ...Object.values(texts)].map(String);
    expect(all.filter((text) => start.test(text))).toEqual([]);
    // Without the apostrophes, the name is what it was.
    expect(String(texts["'=name"]).replaceAll("'", '')).toBe(formulas[at]);
  }
});

test('every type has its equivalent in Parquet, at its limits too', async () => {
  const database = await freshDatabase();
  await database.query(`
    create view explorer.ends as
    select * from (values
      ('-32768'::smallint, '-2147483648'::integer, '-9223372036854775808'::bigint, 0.1::float4, 0.1::float8, true,
       date '0001-01-01', timestamptz '0001-01-01 00:00:00+00', timestamp '9999-12-31 23:59:59.999999',
       (2::numeric ^ 256 - 1)::numeric(78, 0), 1 - 10::numeric ^ 38, array[1, null], array['a"b', null], interval '1 day 2:03:04.5'),
      (32767::smallint, 2147483647, 9223372036854775807, '-infinity'::float4, 'nan'::float8, false,
       date '9999-12-31', timestamptz '2026-10-01 02:03:04.123456+02', timestamp '1969-12-31 23:59:59.999999',
       0, 0.0::numeric(9, 0), null, '{}', null),
      (null, null, null, null, null, null, null, null, null, null, null, null, null, null)
    ) as t (i2, i4, i8, f4, f8, b, d, tz, ts, wei, most, ints, texts, iv)`);
  const lake = await openLake(database);
  const ask = await openDuckDb();

  await lake.exported(['ends']);

  const path = `${lake.folder}/ends/data.parquet`;
  const [types] = await ask(
    `select list(column_type) as types from (describe select * from '${path}')`,
  );
  expect(types).toEqual({
    types: [
      'INTEGER',
      'INTEGER',
      'BIGINT',
      'FLOAT',
      'DOUBLE',
      'BOOLEAN',
      'DATE',
      'TIMESTAMP WITH TIME ZONE',
      'TIMESTAMP',
      'DOUBLE',
      'DECIMAL(38,0)',
      'VARCHAR',
      'DOUBLE',
      'DECIMAL(38,0)',
      'VARCHAR',
      'VARCHAR',
      'VARCHAR',
      'VARCHAR',
    ],
  });
  const rows = await ask(
    `select columns(*)::varchar, epoch_us(tz)::varchar as micros from '${path}' order by i2`,
  );
  const stored = await database.query(
    `select (extract(epoch from tz) * 1000000)::bigint::text as micros from explorer.ends order by i2`,
  );
  expect(rows.map(({ micros }) => micros)).toEqual(
    (stored as { micros: string | null }[]).map(({ micros }) => micros),
  );
  expect(rows).toMatchObject([
    {
      i2: '-32768',
      i4: '-2147483648',
      i8: '-9223372036854775808',
      f4: '0.1',
      f8: '0.1',
      b: 'true',
      d: '0001-01-01',
      ts: '9999-12-31 23:59:59.999999',
      wei: '1.157920892373162e+77',
      wei_decimal: null,
      wei_text: (2n ** 256n - 1n).toString(),
      most: '-1e+38',
      most_decimal: `-${'9'.repeat(38)}`,
      most_text: `-${'9'.repeat(38)}`,
      ints: '[1,null]',
      texts: '["a\\"b",null]',
      iv: '1 day 02:03:04.5',
    },
    {
      i8: '9223372036854775807',
      f4: '-inf',
      f8: 'nan',
      d: '9999-12-31',
      tz: '2026-10-01 00:03:04.123456+00',
      ts: '1969-12-31 23:59:59.999999',
      ints: null,
      texts: '[]',
    },
    { i2: null, i8: null, b: null, d: null, tz: null, wei: null, iv: null },
  ]);
});

test.each(['infinity', '0044-03-15 BC'])(
  'a time that Parquet cannot store is refused with its column, and written to CSV: %s',
  async (time) => {
    const database = await freshDatabase();
    await database.query(
      `create view explorer.never as select timestamptz '${time}' as until, 1 as n`,
    );
    const lake = await openLake(database);
    expect(await lake.run(['never'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/column until holds .*--format csv takes it/u),
    });
    await lake.exported(['never', '--format', 'csv']);
    expect(await lake.paths()).toEqual(['never/data.csv']);
  },
);

test('an amount has the same three columns in the files of all days, whatever their values are', async () => {
  const database = await freshDatabase();
  await database.query(
    `insert into explorer.user_operations
       (chain_id, hash, "timestamp", fee, first_seen_at, updated_at, page_id)
     select 10, n::text, timestamptz '2026-01-01' + n * interval '1 day', fee, now(), now(), 1
     from unnest($1::numeric[]) with ordinality as given (fee, n)`,
    [['5', (10n ** 40n).toString(), null]],
  );
  const lake = await openLake(database);
  const ask = await openDuckDb();
  const query = 'select avg(fee) as mean from explorer.user_operations where fee < 10';

  await lake.exported(['user_operations']);
  await lake.exported(['--query', query, '--overwrite']);

  const files = (await lake.paths()).filter((path) => path.startsWith('user_operations'));
  expect(files).toHaveLength(3);
  for (const path of files) {
    const columns = await ask(`describe select columns('fee.*') from '${lake.folder}/${path}'`);
    expect(columns.map((one) => [one['column_name'], one['column_type']])).toEqual([
      ['fee', 'DECIMAL(38,0)'],
      ['fee_double', 'DOUBLE'],
      ['fee_text', 'VARCHAR'],
      ['fee_native', 'DOUBLE'],
    ]);
  }
  const all = `'${lake.folder}/user_operations/**/*.parquet'`;
  expect(await ask(`select fee, fee_double, fee_text from ${all} order by day`)).toEqual([
    { fee: '5', fee_double: 5, fee_text: '5' },
    { fee: null, fee_double: 1e40, fee_text: `1${'0'.repeat(40)}` },
    { fee: null, fee_double: null, fee_text: null },
  ]);
  // A sum or an average may have a fraction: its double comes first.
  expect(await ask(`from '${lake.folder}/query/data.parquet'`)).toEqual([
    { mean: 5, mean_decimal: null, mean_text: '5.0000000000000000' },
  ]);
});
