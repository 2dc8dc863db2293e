import { expect, test } from 'vitest';
import { expectToFit, usual } from './looks.ts';
import { checkClock, checkOf, checkText, clockAhead, type Check } from '../../../src/cli/check.ts';

const feeds = ['10', '42220'].flatMap((chain) =>
  ['user-operations', 'optimism-batch-blocks', 'factories'].map((list) => `${chain}/${list}`),
);

const well: readonly Check[] = [
  checkOf('configuration', 'explorer-etl.yaml: 2 chains, 6 feeds'),
  checkOf('database', 'chains on db.example.org:5432, Postgres 17.2 (Debian 17.2-1.pgdg120+1)'),
  checkOf('schema', '3 of 3 migrations applied'),
  checkClock('database clock', -140),
  checkOf('explorer', 'api.blockscout.com: 6 feeds answered in 110 to 310 ms'),
  checkOf('credits', '93,400 left today, 6,600 spent today by this database'),
];

const cases: Record<string, readonly Check[]> = {
  'all well': well,
  'a refused key and a clock that differs': [
    ...well.slice(0, 3),
    checkClock('database clock', 3_600_000),
    {
      ...checkOf(
        'explorer',
        `6 feeds (${feeds.join(', ')}) of api.blockscout.com: unauthorized (HTTP 401): \u001B[31mInvalid API key. Check the API key.`,
        'failed',
      ),
      feeds,
      failure: 'unauthorized',
    },
  ],
};

test.each(Object.entries(cases))('check of %s on 80 columns', (_name, checks) => {
  expect(checkText(checks, usual, 'npx explorer-etl sync')).toMatchSnapshot();
  expectToFit((look) => checkText(checks, look, 'npx explorer-etl sync'));
});

test('a clock is read in the middle of request and response', () => {
  expect(clockAhead(10_000, 9_000, 9_400)).toBe(800);
  expect(clockAhead(10_000, 11_000, 11_000)).toBe(-1_000);
});

test('a clock that differs by more than some seconds is a warning, either way', () => {
  const states = [0, 5_000, -5_000].map((ms) => checkClock('database clock', ms).state);
  expect(states).toEqual(['ok', 'ok', 'ok']);
  const state = 'warning';
  expect(checkClock('explorer clock', 65_000)).toMatchObject({
    state,
    message: expect.stringMatching(/^1m 5s ahead of/),
  });
  expect(checkClock('explorer clock', -6_000)).toMatchObject({
    state,
    message: expect.stringMatching(/^6s behind this/),
  });
});
