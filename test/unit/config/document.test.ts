import { expect, test } from 'vitest';
import { operationNames } from '../../../src/lists/registry.ts';
import { complaints, load } from './folder.ts';

const chain = (operations: string): string => `chains:
  - id: 10
    operations:
${operations.replaceAll(/^/gmu, '      ')}
`;

test('every problem of a file is shown at once, with its line, in order', () => {
  const text = `explorer:
  page_size: 51
  requests_per_second: 0
  requests_per_secnd: 5
chains:
  - id: 10
    operations:
      user-operations:
        schedule: every minute
        timezone: Mars/Olympus
        overlap: 30
        since: soon
      optimism-batch-blocks:
        schedule: '* * * *'
        from_batch: 9
        to_batch: 3
        paralel: 2
      factories: { shedule: "0 0 * * *" }
      blocks: {}
  - id: 10
    operations: {}
  - name: nameless
chians: []
`;
  expect(complaints(() => load(text))).toEqual([
    'explorer-etl.yaml:2: explorer.page_size: Too big: expected number to be <=50',
    'explorer-etl.yaml:3: explorer.requests_per_second: Too small: expected number to be >0',
    'explorer-etl.yaml:4: explorer.requests_per_secnd: unknown key; did you mean requests_per_second?',
    'explorer-etl.yaml:9: chains[0].operations.user-operations.schedule: not a cron schedule: five fields, such as "*/5 * * * *"',
    'explorer-etl.yaml:10: chains[0].operations.user-operations.timezone: not a time zone: a name such as Europe/Berlin',
    'explorer-etl.yaml:11: chains[0].operations.user-operations.overlap: expected string, received number',
    'explorer-etl.yaml:12: chains[0].operations.user-operations.since: not a date or timestamp, such as 2024-01-01',
    'explorer-etl.yaml:14: chains[0].operations.optimism-batch-blocks.schedule: not a cron schedule: five fields, such as "*/5 * * * *"',
    'explorer-etl.yaml:16: chains[0].operations.optimism-batch-blocks.to_batch: is below from_batch: the range is reversed',
    'explorer-etl.yaml:17: chains[0].operations.optimism-batch-blocks.paralel: unknown key; did you mean parallel?',
    'explorer-etl.yaml:18: chains[0].operations.factories.shedule: unknown key; did you mean schedule?',
    `explorer-etl.yaml:19: chains[0].operations.blocks: unknown key; known are ${operationNames.join(', ')}`,
    'explorer-etl.yaml:20: chains[1].id: chain 10 is listed twice',
    'explorer-etl.yaml:21: chains[1].operations: names no operation',
    'explorer-etl.yaml:22: chains[2].id: expected number, received undefined',
    'explorer-etl.yaml:23: chians: unknown key; did you mean chains?',
  ]);
});

test('a name in place of the number of a chain is refused with where to find the number', () => {
  expect(complaints(() => load('chains:\n  - id: optimism\n'))).toEqual([
    "explorer-etl.yaml:2: chains[0].id: not a chain's number, such as 10; init --chain finds that of a name",
  ]);
});

test('a problem of a key whose value begins on the next line is shown with the line of the key', () => {
  expect(complaints(() => load('chians:\n  - id: 10\n'))).toEqual([
    'explorer-etl.yaml:1: chians: unknown key; did you mean chains?',
  ]);
});

test.each([
  ['api_key: canary', 'api_key', 'EXPLORER_API_KEY'],
  ['explorer: { apikey: canary }', 'explorer.apikey', 'EXPLORER_API_KEY'],
  ['explorer: { key: canary }', 'explorer.key', 'EXPLORER_SECRET_KEY'],
  ['explorer: { secret-key: canary }', 'explorer.secret-key', 'EXPLORER_SECRET_KEY'],
  ['database_url: postgres://u:canary@h/d', 'database_url', 'DATABASE_URL'],
  ['direct_url: postgres://u:canary@h/d', 'direct_url', 'DATABASE_URL'],
  ['DATABASE_URL: postgres://u:canary@h/d', 'DATABASE_URL', 'DATABASE_URL'],
  ['EXPLORER_API_KEY: canary', 'EXPLORER_API_KEY', 'EXPLORER_API_KEY'],
])('%s has to move to the environment', (text, key, variable) => {
  expect(complaints(() => load(text))).toEqual([
    `explorer-etl.yaml:1: ${key}: secrets do not belong in this file: set ${variable} (or ${variable}_FILE) in the environment`,
  ]);
});

test('a chain has only the currency and the explorer that the file names', () => {
  const own = 'native_symbol: X, native_decimals: 9, explorer_url: https://x.example/';
  const [first, second] = load(`chains: [{ id: 10, ${own} }, { id: 1 }]`).chains;
  expect(first).toMatchObject({
    nativeSymbol: 'X',
    nativeDecimals: 9,
    explorerUrl: 'https://x.example',
  });
  expect(second).not.toHaveProperty('nativeSymbol');
});

test.each([
  ['native_symbol: ""', 'native_symbol: Too small: expected string to have >=1 characters'],
  ['native_decimals: -1', 'native_decimals: Too small: expected number to be >=0'],
  ['explorer_url: ftp://h', 'explorer_url: not an http or https URL'],
  ['explorer_url: https://u:canary@h', 'explorer_url: must hold no user name or password'],
])('of a chain %s is refused', (text, problem) => {
  expect(complaints(() => load(`chains: [{ id: 10, ${text} }]`))).toEqual([
    `explorer-etl.yaml:1: chains[0].${problem}`,
  ]);
});

test.each([
  [
    'a list not closed',
    'chains:\n  - id: 10\n    operations: [canary\n',
    /^explorer-etl\.yaml:\d: not valid YAML: Flow sequence/u,
  ],
  [
    'a key twice',
    'chains: []\nexplorer:\nchains: []\n',
    /^explorer-etl\.yaml:3: not valid YAML: Map keys must be unique$/u,
  ],
  ['an unknown alias', 'chains: *canary\n', /:1: .* begins with \* is an alias: quote it/u],
  ['an unknown tag', 'chains: !canary []\n', /:1: .* begins with ! is a tag: quote it$/u],
  ['a second document', 'chains: []\n---\ncanary\n', /:2: .* a second document begins here/u],
  ['a document after another', 'chains: []\n...\ncanary\n', /: a second document begins here/u],
  ['a stray token', 'chains: []\n"canary" canary\n', /:2: not valid YAML/u],
])('broken YAML is shown with its line and no source: %s', (_name, text, expected) => {
  const lines = complaints(() => load(text));
  expect(lines[0]).toMatch(expected);
  expect(lines.join('\n')).not.toContain('canary');
});

test.each([
  'schedule: */5 * * * *',
  'schedule: * * * * *',
  '{ schedule: */5 * * * * }',
  '{ schedule: */5 }',
  'schedule: @daily',
  'schedule: `0 0 * * *`',
  'schedule: %5',
  'schedule: !5',
])('%s must be quoted: one problem, with its line', (schedule) => {
  const list = chain(`user-operations:\n  ${schedule.replace('{', '{ overlap: 30s,')}`);
  expect(complaints(() => load(list))).toEqual([
    expect.stringMatching(/^explorer-etl\.yaml:5: not valid YAML: a value .*: quote it/u),
  ]);
});

test('a misplaced value is not printed', () => {
  const text = `explorer: canary\nchains:\n  - canary\n  - id: canary\n    name: 5\n    operations: canary\n`;
  const lines = complaints(() => load(text)).join('\n');
  expect(lines).not.toContain('canary');
  expect(lines).toContain('explorer-etl.yaml:3: chains[0]: expected object, received string');
});

test.each(['canary', '- canary', '5'])('a file that is not a map is refused: %s', (text) => {
  expect(complaints(() => load(text))[0]).toMatch(
    /^explorer-etl\.yaml:1: the file: expected object/u,
  );
});

test('aliases that expand without limit are refused', () => {
  const rows = Array.from(
    { length: 20 },
    (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}]`,
  );
  const text = `a0: &a0 [1]\n${rows.join('\n')}\n`;
  expect(complaints(() => load(text))).toEqual([
    'explorer-etl.yaml: not valid YAML: an alias is endless',
  ]);
});

test.each([
  ['since: 2024-01-01', { since: '2024-01-01T00:00:00.000Z' }],
  ['since: "2024-01-01"', { since: '2024-01-01T00:00:00.000Z' }],
  ['since: 2024-01-01T10:00:00Z', { since: '2024-01-01T10:00:00.000Z' }],
  ['since: 2024-01-01 10:00', { since: '2024-01-01T10:00:00.000Z' }],
  ['since: 2024-01-01T10:00:00.5+02:00', { since: '2024-01-01T08:00:00.500Z' }],
  ['since: null', { since: null }],
  [
    'resweep: [{ depth: 1h, every: 1 day }]',
    { resweep: [{ depthMs: 3_600_000, everyMs: 86_400_000 }] },
  ],
])('%s is read', (text, expected) => {
  const { chains } = load(chain(`user-operations: { ${text} }`));
  expect(chains[0]?.operations['user-operations']).toMatchObject(expected);
});

const [noTime, noDuration] = ['not a date or timestamp', 'not a duration: a number and a unit'];

test.each([
  ...['2024-02-30', '2024-13-01', '2024', 'yesterday', '2024-01-01T25:00'].map((time) => [
    `since: ${time}`,
    time === '2024' ? 'since: expected string, received number' : `since: ${noTime}`,
  ]),
  ...['30', '-5s', '1 fortnight', 's', '30s30s'].map((text) => [
    `overlap: "${text}"`,
    `overlap: ${noDuration}, such as 30s`,
  ]),
  ['resweep: [{ depth: soon, every: 1h }]', `resweep[0].depth: ${noDuration}, such as 30s`],
  [
    'resweep: [{ depth: 91d, every: 91d }]',
    'resweep[0].depth: is more than 90d: read the history again with backfill',
  ],
  [
    'resweep: [{ depth: 1h, every: 30s }]',
    'resweep[0].every: is less than 1m: schedules fire once a minute at most',
  ],
  [
    'resweep: [{ depth: 20s, every: 1h }]',
    'resweep[0].depth: is not deeper than overlap, which each poll reads',
  ],
  [
    'resweep: [{ depth: 1h, every: 8h, always: true }]',
    'resweep[0].always: unknown key; known are depth, every',
  ],
])('%s is refused', (text, problem) => {
  expect(complaints(() => load(chain(`user-operations: { ${text} }`)))[0]).toContain(
    `explorer-etl.yaml:4: chains[0].operations.user-operations.${problem}`,
  );
});
