import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readEnvironment } from '../../../src/config/environment.ts';
import { loadSettings } from '../../../src/config/load.ts';
import { requireApiKey } from '../../../src/config/settings.ts';
import { complaints, folder, load } from './folder.ts';

/** What each list has. */
const common = { timezone: 'UTC', freshness: null };

const standard = {
  'user-operations': {
    schedule: '*/5 * * * *',
    ...common,
    overlapMs: 30_000,
    resweep: [
      { depthMs: 300_000, everyMs: 1_200_000 },
      { depthMs: 3_600_000, everyMs: 28_800_000 },
      { depthMs: 86_400_000, everyMs: 691_200_000 },
    ],
    since: null,
    parallel: null,
  },
  'optimism-batch-blocks': {
    schedule: '*/10 * * * *',
    ...common,
    fromBatch: 1,
    toBatch: null,
    reread: 2,
    parallel: 4,
  },
  factories: { schedule: '0 */6 * * *', ...common },
};

const listed = {
  schedule: '*/10 * * * *',
  ...common,
  overlapMs: 3_600_000,
  resweep: [{ depthMs: 86_400_000, everyMs: 86_400_000 }],
  since: null,
  parallel: null,
};

describe('without a file', () => {
  test('--chain means that chain with all usual operations and the defaults', () => {
    expect(load(null, { chains: ['10', '123456', '10'] })).toEqual({
      explorer: {
        baseUrl: 'https://api.blockscout.com',
        apiKey: null,
        secretKey: null,
        proxy: null,
        requestsPerSecond: 5,
        dailyCredits: null,
        pageSize: 50,
        archive: 'off',
        archiveDays: null,
        ledgerDays: null,
        keys: {},
      },
      databaseUrl: null,
      connections: 12,
      chains: [
        { id: 10, name: 'optimism', operations: { ...standard, 'optimism-batches': listed } },
        // It is unknown whether it has them: a user names them.
        { id: 123456, name: 'chain-123456', operations: standard },
      ],
      http: { listen: null, metrics: null, hosts: [], token: null },
      configFile: null,
      deployment: null,
    });
  });

  test.each([
    ['10', 'factories', standard.factories],
    ['1', 'optimism-batches', listed],
    ['10', 'bundlers', { schedule: '0 0 * * *', ...common }],
  ])('of chain %s, --operation %s selects, also what is not usual there', (id, name, expected) => {
    const { chains } = load(null, { chains: [id], operations: [name] });
    expect(chains[0]?.operations).toEqual({ [name]: expected });
  });

  test('a missing chain is an error that says what to do, unless none is needed', () => {
    expect(complaints(() => load(null))).toEqual([
      'no chain to copy: name one, such as --chain 10, or write explorer-etl.yaml.',
    ]);
    expect(complaints(() => load(null, { need: 'file' }))).toEqual([
      'no chain to copy: write explorer-etl.yaml.',
    ]);
    expect(load(null, { need: 'database' }).chains).toEqual([]);
  });
});

describe('with a file', () => {
  const text = `
explorer:
  base_url: http://localhost:4000/api/
  requests_per_second: 15
  daily_credits: 20000
  page_size: 10
  archive: all
  archive_days: 90
  ledger_days: 365
chains:
  - id: 10
    name: op
    operations:
      user-operations: { schedule: '@hourly', timezone: Europe/Berlin, freshness: 15m, overlap: 2m, resweep: [], since: 2024-01-01, parallel: 3 }
      optimism-batch-blocks: { from_batch: 5, to_batch: 9, reread: 0, parallel: 1 }
  - id: 8453
    operations:
      factories:
  - id: 1
`;

  test('every key takes effect', () => {
    const batches = { fromBatch: 5, toBatch: 9, reread: 0, parallel: 1 };
    const settings = load(text);
    expect(settings.explorer).toMatchObject({
      baseUrl: 'http://localhost:4000/api',
      requestsPerSecond: 15,
      dailyCredits: 20_000,
      pageSize: 10,
      archive: 'all',
      archiveDays: 90,
      ledgerDays: 365,
      keys: {},
    });
    expect(settings.chains).toEqual([
      {
        id: 10,
        name: 'op',
        operations: {
          'user-operations': {
            schedule: '@hourly',
            timezone: 'Europe/Berlin',
            freshness: 900_000,
            overlapMs: 120_000,
            resweep: [],
            since: '2024-01-01T00:00:00.000Z',
            parallel: 3,
          },
          'optimism-batch-blocks': { ...common, schedule: '*/10 * * * *', ...batches },
        },
      },
      { id: 8453, name: 'base', operations: { factories: standard.factories } },
      { id: 1, name: 'ethereum', operations: standard },
    ]);
    expect(settings.configFile).toMatch(/^\/.*\/explorer-etl\.yaml$/u);
  });

  test('flags select among its lists', () => {
    const { chains } = load(text, { chains: ['8453', '1'], operations: ['factories'] });
    expect(chains.map(({ id, operations }) => [id, Object.keys(operations)])).toEqual([
      [8453, ['factories']],
      [1, ['factories']],
    ]);
    expect(load(text, { operations: ['user-operations'] }).chains.map(({ id }) => id)).toEqual([
      10, 1,
    ]);
  });

  test('flags for other lists are refused with the names of its own', () => {
    expect(complaints(() => load(text, { chains: ['7'] }))).toEqual([
      '--chain 7: not in the configuration, which lists 10 (op), 8453 (base), 1 (ethereum)',
    ]);
    const input = { chains: ['8453'], operations: ['user-operations'] };
    expect(complaints(() => load(text, input))).toEqual([
      '--operation user-operations: not configured for these chains, which have factories',
    ]);
  });

  test('an empty file, and one without chains, leave the chains to the flags', () => {
    expect(load('', { chains: ['10'] }).chains).toHaveLength(1);
    expect(load('explorer:\n', { chains: ['10'] }).chains).toHaveLength(1);
    expect(complaints(() => load('chains: []\n'))).toEqual([
      'no chain to copy: list one under chains in explorer-etl.yaml, or name one: --chain 10',
    ]);
  });
});

const isRoot = process.geteuid?.() === 0;
/** How another user chooses what a file says. */
const theirs = [
  ['which all may write', (file: string) => chmodSync(file, 0o646)],
  ...(isRoot
    ? [["which is another user's", (file: string) => chownSync(file, 12_345, 12_345)] as const]
    : []),
] as const;

const yaml = (id: number): string => `chains: [{ id: ${id} }]`;

describe('precedence', () => {
  test('the file: flag, then environment, then the working directory', () => {
    const cwd = folder({ 'explorer-etl.yaml': yaml(1), 'a.yaml': yaml(2), 'b.yaml': yaml(3) });
    const env = { EXPLORER_ETL_CONFIG: 'a.yaml' };
    const id = (input: object) => loadSettings({ env: {}, cwd, ...input }).chains[0]?.id;
    expect(id({})).toBe(1);
    expect(id({ env })).toBe(2);
    expect(id({ env, configFile: join(cwd, 'b.yaml') })).toBe(3);
  });

  test.each(theirs)(
    'a file that is found, and %s, is refused unless it is named',
    (_what, change) => {
      const cwd = folder({ 'explorer-etl.yaml': yaml(1) });
      change(join(cwd, 'explorer-etl.yaml'));
      expect(complaints(() => loadSettings({ env: {}, cwd }))).toEqual([
        expect.stringMatching(
          /^explorer-etl\.yaml: another user owns it or may write to it.*--config/u,
        ),
      ]);
      const named = loadSettings({ env: {}, cwd, configFile: 'explorer-etl.yaml' });
      expect(named.chains[0]?.id).toBe(1);
      const env = { EXPLORER_ETL_CONFIG: 'explorer-etl.yaml' };
      expect(loadSettings({ env, cwd }).chains[0]?.id).toBe(1);
    },
  );

  test.each([0o600, 0o644, 0o664])('a file that is found with mode %o is read', (mode) => {
    const cwd = folder({ 'explorer-etl.yaml': yaml(1) });
    chmodSync(join(cwd, 'explorer-etl.yaml'), mode);
    expect(loadSettings({ env: {}, cwd }).chains[0]?.id).toBe(1);
  });

  test.runIf(isRoot)(
    "another user's pipe in the place of a file is refused, whatever they write to it",
    () => {
      const cwd = folder();
      const pipe = join(cwd, 'explorer-etl.yaml');
      execFileSync('/usr/bin/mkfifo', [pipe]);
      chownSync(pipe, 12_345, 12_345);
      const writer = spawn('/bin/sh', ['-c', `echo '${yaml(2)}' > "$0"`, pipe]);
      onTestFinished(() => void writer.kill('SIGKILL'));
      expect(complaints(() => loadSettings({ env: {}, cwd }))).toEqual([
        expect.stringMatching(/another user owns it/u),
      ]);
    },
  );

  test('a file that was named must exist and be readable', () => {
    expect(complaints(() => load(null, { configFile: 'no.yaml', chains: ['1'] }))).toEqual([
      'cannot read no.yaml (ENOENT): no such file; check --config or EXPLORER_ETL_CONFIG, or write one.',
    ]);
    expect(complaints(() => load(null, { env: { EXPLORER_ETL_CONFIG: '/' } }))).toEqual([
      'cannot read / (EISDIR): it is a folder; name the file in it, such as explorer-etl.yaml',
    ]);
  });

  test('the explorer: environment before file; the database: flag before environment', () => {
    const env = {
      EXPLORER_BASE_URL: 'https://one.example//',
      DATABASE_URL: 'postgres://u:p@env/db',
    };
    const text = 'explorer: { base_url: https://two.example }';
    expect(load(text, { env, need: 'database' })).toMatchObject({
      explorer: { baseUrl: 'https://one.example' },
      databaseUrl: 'postgres://u:p@env/db',
    });
    expect(load(text, { need: 'database' }).explorer.baseUrl).toBe('https://two.example');
    const databaseUrl = 'postgresql://flag/db';
    expect(load(text, { env, databaseUrl, need: 'database' }).databaseUrl).toBe(databaseUrl);
  });
});

describe('the API key', () => {
  test('is required only by commands that need it, with advice', () => {
    const settings = load(null, { chains: ['10'] });
    expect(complaints(() => requireApiKey(settings))).toEqual([
      'EXPLORER_API_KEY is not set: put your API key there, or the path of a file that holds it in EXPLORER_API_KEY_FILE',
    ]);
    const env = { EXPLORER_API_KEY: ' canary \n' };
    expect(requireApiKey(load(null, { chains: ['10'], env })).get(10)?.apiKey).toBe('canary');
  });
});

test('problems of environment, flags and file are reported together', () => {
  const env = { EXPLORER_BASE_URL: 'ftp://x', DATABASE_URL: 'mysql://x' };
  expect(complaints(() => load('chain: []', { env }))).toEqual([
    'EXPLORER_BASE_URL: not an http or https URL',
    'DATABASE_URL: the scheme is mysql, not postgres or postgresql',
    'explorer-etl.yaml:1: chain: unknown key; did you mean chains?',
  ]);
});

describe('several keys', () => {
  const text = `
explorer:
  daily_credits: 100000
  keys:
    base: { env: KEY_OF_BASE, requests_per_second: 15 }
    other: { env: KEY_OF_OTHER, daily_credits: 40 }
chains:
  - { id: 10 }
  - { id: 8453, key: base }
  - { id: 1, key: other }
`;

  test('each chain has the key that it names, with the limits of that key', () => {
    const cwd = folder({ 'explorer-etl.yaml': text, other: 'canary-3\n' });
    const env = { EXPLORER_API_KEY: 'canary-1', EXPLORER_SECRET_KEY: 'secret' };
    const named = { ...env, KEY_OF_BASE: 'canary-2', KEY_OF_OTHER_FILE: 'other' };
    expect([...requireApiKey(load(null, { cwd, env: named }))]).toMatchObject([
      [
        10,
        { apiKey: 'canary-1', secretKey: 'secret', requestsPerSecond: 5, dailyCredits: 100_000 },
      ],
      [8453, { apiKey: 'canary-2', secretKey: null, requestsPerSecond: 15, dailyCredits: 100_000 }],
      [1, { apiKey: 'canary-3', secretKey: null, requestsPerSecond: 5, dailyCredits: 40 }],
    ]);
  });

  test('only the missing keys that a chain needs are named', () => {
    expect(complaints(() => requireApiKey(load(text)))).toEqual(
      ['EXPLORER_API_KEY', 'KEY_OF_BASE', 'KEY_OF_OTHER'].map(
        (name) =>
          `${name} is not set: put your API key there, or the path of a file that holds it in ${name}_FILE`,
      ),
    );
    const env = { KEY_OF_BASE: 'canary' };
    const only = load(text, { chains: ['8453'], env });
    expect([...requireApiKey(only).keys()]).toEqual([8453]);
  });

  test('a chain with a key that is not listed is refused', () => {
    expect(complaints(() => load('chains: [{ id: 10, key: bse }]'))).toEqual([
      'chain 10: key bse is not among explorer.keys',
    ]);
  });

  test('a variable with another purpose is refused as that of a key', () => {
    const read = new Set<string>();
    const env = new Proxy({}, { get: (_, name) => void read.add(String(name)) });
    readEnvironment(env, '.', () => undefined);
    expect(read.size).toBeGreaterThan(8);
    // Names in lower case, which those of proxies may be, are refused as such.
    const upper = [...read].filter((name) => name === name.toUpperCase());
    for (const name of [...upper, 'KEY_OF_BASE_FILE', 'PGPASSWORD', 'NODE_OPTIONS']) {
      expect(
        complaints(() => load(`explorer: { keys: { base: { env: ${name} } } }`)),
      ).toContainEqual(
        expect.stringMatching(/^explorer-etl.yaml:1: explorer.keys.base.env: .*another purpose/u),
      );
    }
    load('explorer: { keys: { base: { env: EXPLORER_API_KEY_BASE }, b: { env: KEY } } }', {
      chains: ['10'],
    });
  });

  test('a key instead of the name of its variable is refused without being printed', () => {
    const said = complaints(() => load('explorer: { keys: { base: { env: proapi-canary } } }'));
    expect(said.join()).toMatch(/^(?!.*canary).*not the name of an environment variable/su);
  });
});
