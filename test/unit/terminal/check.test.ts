import { expect, test } from 'vitest';
import { expectToFit, usual } from './looks.ts';
import { checkOf, checkText, type Check } from '../../../src/cli/check.ts';

const feeds = ['10', '42220'].flatMap((chain) =>
  ['user-operations', 'optimism-batch-blocks', 'factories'].map((list) => `${chain}/${list}`),
);

const well: readonly Check[] = [
  checkOf('configuration', 'explorer-etl.yaml: 2 chains, 6 feeds'),
  checkOf('database', 'chains on db.example.org:5432, Postgres 17.2 (Debian 17.2-1.pgdg120+1)'),
  checkOf('schema', '3 of 3 migrations applied'),
  checkOf('explorer', 'api.blockscout.com: 6 feeds answered'),
];

const cases: Record<string, readonly Check[]> = {
  'all well': well,
  'a refused key': [
    ...well.slice(0, 3),
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

test.each(Object.entries(cases))(
  'the report of check for %s matches its snapshot',
  (_name, checks) => {
    expect(checkText(checks, usual, 'npx explorer-etl sync')).toMatchSnapshot();
    expectToFit((look) => checkText(checks, look, 'npx explorer-etl sync'));
  },
);
