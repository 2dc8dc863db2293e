import { describe, expect, test } from 'vitest';
import { clockAhead, clockFinding } from '../../../src/cli/check-clock.ts';
import { checkText } from '../../../src/cli/check-text.ts';
import { checkDocument, type CheckDocument } from '../../../src/documents/check.ts';
import { widthOf } from '../../../src/terminal/width.ts';
import { looks, usual } from './looks.ts';

const feeds = ['10', '42220'].flatMap((chain) =>
  ['user-operations', 'optimism-batch-blocks', 'factories'].map((list) => `${chain}/${list}`),
);

const well: CheckDocument = {
  schema: 'explorer-etl/check/1',
  exit: { code: 0, reason: 'done' },
  configuration: { file: 'explorer-etl.yaml', chains: 2, feeds: 6 },
  database: {
    host: 'db.example.org',
    port: 5432,
    name: 'chains',
    server_version: '17.2 (Debian 17.2-1.pgdg120+1)',
    is_embedded: false,
    is_standby: false,
    schema_version: '1795282912254',
    migrations: { of_program: 3, applied: 3, missing: 0, ahead: 0 },
    pooler: null,
    clock_ahead_ms: -140,
  },
  explorer: { host: 'api.blockscout.com', clock_ahead_ms: 2_100 },
  keys: [{ chains: [10, 42_220], credits_left: 93_400, credits_spent_today: 6_600 }],
  feeds: feeds.map((feed, at) => ({
    feed,
    state: 'answers',
    latency_ms: 110 + 40 * at,
    failure: null,
  })),
  findings: [],
};

const cases: Record<string, CheckDocument> = {
  'all well': well,
  'an empty embedded database, nothing asked': {
    ...well,
    configuration: { file: null, chains: 1, feeds: 1 },
    database: {
      ...well.database,
      host: '127.0.0.1',
      name: 'postgres',
      is_embedded: true,
      schema_version: null,
      migrations: { of_program: 3, applied: 0, missing: 3, ahead: 0 },
    },
    explorer: { host: 'api.blockscout.com', clock_ahead_ms: null },
    keys: [],
    feeds: [],
  },
  'a refused key, a pooler and clocks that differ': {
    ...well,
    exit: { code: 1, reason: 'failed' },
    database: {
      ...well.database,
      migrations: { of_program: 3, applied: 2, missing: 1, ahead: 0 },
      pooler: { name: 'PgBouncer 1.24', mode: 'transaction', is_passed: true },
      clock_ahead_ms: 3_600_000,
    },
    keys: [{ chains: [10, 42_220], credits_left: null, credits_spent_today: null }],
    feeds: well.feeds.map(({ feed }) => ({
      feed,
      state: 'fails',
      latency_ms: null,
      failure: 'unauthorized',
    })),
    findings: [
      {
        state: 'failed',
        kind: 'feeds',
        feeds,
        failure: 'unauthorized',
        message: 'unauthorized (HTTP 401): \u001B[31mInvalid API key. Check the API key.',
      },
      ...[clockFinding("the database's", 3_600_000)].filter((finding) => finding !== null),
    ],
  },
  'a newer database, a way without sessions, one feed that fails, two keys': {
    ...well,
    exit: { code: 1, reason: 'failed' },
    database: {
      ...well.database,
      migrations: { of_program: 3, applied: 4, missing: 0, ahead: 1 },
    },
    keys: [
      { chains: [10], credits_left: 80, credits_spent_today: 920 },
      { chains: [42_220], credits_left: null, credits_spent_today: 0 },
    ],
    feeds: well.feeds.map((feed, at) =>
      at === 0 ? { ...feed, state: 'fails', latency_ms: null, failure: 'rejected' } : feed,
    ),
    findings: [
      ...(['newer-migrations', 'connection'] as const).map((kind) => ({
        state: 'failed' as const,
        kind,
        feeds: [],
        failure: null,
        message: `What is wrong with the ${kind}, and what to do.`,
      })),
      {
        state: 'failed',
        kind: 'feeds',
        feeds: feeds.slice(0, 1),
        failure: 'rejected',
        message: 'rejected (HTTP 422): page size. The explorer refused a parameter.',
      },
    ],
  },
};

describe.each(Object.keys(cases))('check of %s', (name) => {
  const document = checkDocument.parse(cases[name]);

  test('on 80 columns', () => {
    expect(checkText(document, usual)).toMatchSnapshot();
  });

  test.each(Object.values(looks))('fits $columns columns, coloured: $isColoured', (look) => {
    const lines = checkText(document, look).split('\n');
    expect(lines.filter((line) => widthOf(line) > look.columns)).toEqual([]);
  });
});

describe('a clock', () => {
  test('is read in the middle of question and answer', () => {
    expect(clockAhead(10_000, { askedMs: 9_000, answeredMs: 9_400 })).toBe(800);
    expect(clockAhead(10_000, { askedMs: 11_000, answeredMs: 11_000 })).toBe(-1_000);
  });

  test('is told where it is off by more than some seconds, either way', () => {
    expect([null, 0, 5_000, -5_000].map((ms) => clockFinding('its', ms))).toEqual(
      Array(4).fill(null),
    );
    expect(clockFinding('its', 65_000)?.message).toMatch(/^its clock is 1m 5s ahead of/);
    expect(clockFinding('its', -6_000)?.message).toMatch(/^its clock is 6s behind this/);
  });
});
