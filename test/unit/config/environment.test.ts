import { describe, expect, test } from 'vitest';
import { databaseUrlProblem } from '../../../src/config/environment.ts';
import { loadSettings } from '../../../src/config/load.ts';
import { complaints, folder } from './folder.ts';

const files = {
  quoted: '"canary"\n',
  key: 'canary-one\n',
  database: 'postgres://u:canary@h/db\n',
  empty: ' \n',
};
const load = (env: NodeJS.ProcessEnv) =>
  loadSettings({ env, cwd: folder(files), need: 'database' });

test('secrets can be read from files', () => {
  const settings = load({
    EXPLORER_API_KEY_FILE: 'key',
    EXPLORER_SECRET_KEY_FILE: 'key',
    DATABASE_URL_FILE: 'database',
  });
  expect(settings.explorer).toMatchObject({ apiKey: 'canary-one', secretKey: 'canary-one' });
  expect(settings.databaseUrl).toBe('postgres://u:canary@h/db');
});

test('an empty variable is the same as an unset one', () => {
  const settings = load({
    EXPLORER_API_KEY: '',
    EXPLORER_SECRET_KEY: ' ',
    DATABASE_URL: '',
    EXPLORER_BASE_URL: '',
    EXPLORER_ETL_CONFIG: '',
    EXPLORER_API_KEY_FILE: 'key',
  });
  expect(settings).toMatchObject({
    explorer: { apiKey: 'canary-one', secretKey: null, baseUrl: 'https://api.blockscout.com' },
    databaseUrl: null,
    configFile: null,
  });
});

test('a secret that is set twice, or whose file is absent or empty, is refused without its value', () => {
  const lines = complaints(() =>
    load({
      EXPLORER_API_KEY: 'canary-two',
      EXPLORER_API_KEY_FILE: 'key',
      EXPLORER_SECRET_KEY_FILE: 'absent',
      DATABASE_URL_FILE: 'empty',
    }),
  );
  expect(lines).toEqual([
    'EXPLORER_API_KEY and EXPLORER_API_KEY_FILE are both set: keep one',
    'EXPLORER_SECRET_KEY_FILE: cannot read absent (ENOENT)',
    'DATABASE_URL_FILE: empty is empty',
  ]);
});

test.each([
  ['EXPLORER_API_KEY', 'canary'],
  ['EXPLORER_SECRET_KEY', 'canary'],
  ['EXPLORER_ETL_HTTP_TOKEN', 'canary'],
  ['DATABASE_URL', 'postgres://u:canary@h/d'],
  ['EXPLORER_BASE_URL', 'https://canary.example'],
  ['EXPLORER_ETL_CONFIG', 'canary.yaml'],
])('quotes around %s are named, and its value is not', (name, text) => {
  for (const quotes of [`""`, `''`, '``', '“”', '‘’']) {
    const [open, close] = quotes;
    expect(complaints(() => load({ [name]: `${open}${text}${close}` }))).toEqual([
      `${name}: its value is in quotes: remove them`,
    ]);
  }
});

test('quotes are named in a file, a flag and the configuration too', () => {
  const cwd = folder({ ...files, 'explorer-etl.yaml': `explorer: { base_url: "'https://x'" }` });
  const settings = { cwd, need: 'database', env: {} } as const;
  const lines = [
    ...complaints(() => load({ EXPLORER_API_KEY_FILE: 'quoted' })),
    ...complaints(() =>
      loadSettings({ ...settings, configFile: null, databaseUrl: '"postgres://h/d"' }),
    ),
    ...complaints(() => loadSettings(settings)),
  ];
  expect(lines).toEqual([
    'EXPLORER_API_KEY_FILE: its value is in quotes: remove them',
    '--database-url: its value is in quotes: remove them',
    'explorer-etl.yaml:1: explorer.base_url: its value is in quotes: remove them',
  ]);
});

describe('a database URL', () => {
  test.each([
    'postgres://localhost',
    'postgresql://user:p%40ss@host:5433/db?sslmode=require',
    'POSTGRES://user@[::1]:5432/db',
    'postgres://user:secret@/db?host=/var/run/postgresql',
    'postgres:///db?host=/var/run/postgresql',
  ])('%s is accepted', (url) => {
    expect(databaseUrlProblem(url)).toBeNull();
  });

  test.each([
    ['canary', /^not a URL/u],
    ['canary@host/db', /^not a URL/u],
    ['postgres:canary@host', /^not a URL/u],
    ['http://user:canary@host/db', /^the scheme is http, not postgres or postgresql$/u],
    ['postgres:///db?x=canary', /^it names no host$/u],
    ['postgres://u:canary@host:99999/db', /^not a valid URL/u],
    ['postgres://u:canary@ho st/db', /^not a valid URL/u],
    ['postgres://u:canary#x@host/db', /percent-encode/u],
    ['postgres://u:1#canary@host/db', /percent-encode/u],
    ['postgres://u:1/canary@host/db', /percent-encode/u],
    ['postgres://u:1?canary@host/db', /percent-encode/u],
    ['postgres://u:canary%zz@host/db', /percent-encod/u],
    [
      'postgres://u:canary@host/db?sslmode=allow',
      /^sslmode must be one of disable, prefer, require/u,
    ],
    [
      'postgres://u:canary@host/db?sslmode=canary',
      /^sslmode must be one of disable, prefer, require/u,
    ],
    ['postgres://u:canary@host/db?sslmode=verify-ca', /^sslmode=verify-ca needs sslrootcert=/u],
  ])('%s is refused, and not printed', (url, problem) => {
    expect(databaseUrlProblem(url)).toMatch(problem);
    const lines = complaints(() => load({ DATABASE_URL: url })).join('\n');
    expect(lines).toMatch(/^DATABASE_URL: /u);
    expect(lines).not.toContain('canary');
  });
});

describe('an explorer URL', () => {
  test.each([
    ['canary', 'not a URL'],
    ['ftp://x', 'not an http or https URL'],
    ['https://u:canary@x', 'must hold no user name or password'],
    ['https://x/?apikey=canary', 'must hold no query and no fragment'],
    ['https://x/#canary', 'must hold no query and no fragment'],
  ])('%s is refused, and not printed', (url, problem) => {
    expect(complaints(() => load({ EXPLORER_BASE_URL: url }))).toEqual([
      `EXPLORER_BASE_URL: ${problem}`,
    ]);
  });
});
