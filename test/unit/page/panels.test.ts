import { describe, expect, test } from 'vitest';
import { answerTable } from '../../../src/page/explore/answer.ts';
import { explore, type Explored } from '../../../src/page/explore/explore.ts';
import type { Table } from '../../../src/page/explore/facts.ts';
import { foreign, foreignLines } from '../../../src/page/foreign.ts';
import type { Html } from '../../../src/page/html.ts';
import { needsYou, type Needs } from '../../../src/page/needs-you.ts';
import type { Explained, Origin } from '../../../src/page/why/facts.ts';
import { why } from '../../../src/page/why/why.ts';

const at = '2026-11-22T21:00:00.123456+00:00';
const called = (command: string) => command.replaceAll('explorer-etl ', 'npx explorer-etl ');
const query = new URLSearchParams('coverage-from=5&why-what=7');

/** As the service may name things: markup, a direction mark, a control character, a lone half of a character. */
const hostile = '"><script>alert(1)</script>\u202Egnp.exe\u0007\uD800';

const nothing: Needs = {
  feeds: 4,
  advice: [],
  quarantine: { count: 0, isAtLeast: false, newest: [] },
  drift: [],
  days: 7,
  reorgs: { count: 0, isAtLeast: false, newest: [] },
  late: { count: 0, isAtLeast: false, newest: [] },
};

const trouble: Needs = {
  ...nothing,
  advice: [
    {
      feeds: [
        '10/factories',
        '10/user-operations',
        '10/optimism-batches',
        '42220/factories',
        '1/x',
      ],
      text: hostile,
      todo: 'What it costs to read it: explorer-etl plan',
      command: 'explorer-etl backfill',
    },
  ],
  quarantine: {
    count: 12,
    isAtLeast: false,
    newest: [
      {
        id: 7,
        feed: '10/user-operations',
        reason: hostile,
        page_id: 3,
        first_seen_at: at,
        raw: `{\n  "name": ${JSON.stringify(hostile)}`,
        raw_length: 100_000,
      },
    ],
  },
  drift: [
    {
      feed: '10/user-operations',
      notes: ['1 unknown field stored in extra: paymaster', `1 unknown value: ${hostile}`],
    },
  ],
  reorgs: {
    count: 1_000,
    isAtLeast: true,
    newest: [
      {
        chain_id: 10,
        height: 5,
        old_hash: `0x${'a'.repeat(64)}`,
        new_hash: hostile,
        observed_at: at,
      },
    ],
  },
  late: {
    count: 2,
    isAtLeast: false,
    newest: [
      { feed: '10/user-operations', key: `0x${'b'.repeat(64)}`, late_s: 4_000, seen_at: at },
      { feed: '10/optimism-batches', key: '77', late_s: null, seen_at: at },
    ],
  },
};

const origin: Origin = {
  page_id: 6,
  sequence: 0,
  cursor_in: null,
  fetched_at: at,
  latency_ms: 309,
  credits: 20,
  attempts: 1,
  items: 50,
  inserted: 50,
  changed: 0,
  quarantined: 0,
  body_hash: 'c'.repeat(64),
  walk_id: 5,
  feed: '10/optimism-batch-blocks',
  lane: 'backfill',
  kind: 'numbered',
  scope: '{"batch": 311}',
  state: 'failed',
  reason: hostile,
  started_at: at,
  finished_at: null,
  run_id: 3,
  run_state: 'open',
};

const row: Explained = {
  table: 'explorer.blocks',
  column: 'hash',
  key: { chain_id: 10, height: 5 },
  chain_id: 10,
  first_seen_at: at,
  updated_at: '2026-11-22T22:00:00Z',
  removed_at: at,
  page_id: 6,
  fields: [
    ['type', hostile],
    ['size', null],
  ],
  origin,
  archived: { is: 'item', text: JSON.stringify({ name: hostile }, null, 2), length: 90_000 },
  changes: [
    { is: 'late', seen_at: at, late_s: 60, page_id: 6 },
    { is: 'replaced', old_hash: '0xaa', new_hash: '0xbb', observed_at: at, page_id: 9 },
  ],
};

const chains = [
  { id: 10, name: 'optimism' },
  { id: 5, name: hostile },
];
const asked = { what: hostile, chain: '10', chains, query };

const term = { is: 'hash', value: `0x${'a'.repeat(64)}` } as const;

const daily: Table = {
  columns: [
    { name: 'day', type: 'date', isNumber: false },
    { name: 'chain_id', type: 'bigint', isNumber: true },
    { name: 'version', type: 'text', isNumber: false },
    { name: 'operations', type: 'bigint', isNumber: true },
  ],
  rows: [
    ['2026-11-22', '10', 'v0.8', '40'],
    ['2026-11-22', '42220', hostile, '20'],
    ['2026-11-20', '10', null, '30'],
    ['2026-11-20', '10', 'v0.7', null],
  ],
  isCut: true,
  ms: 12,
};

const ranking: Table = {
  columns: [
    { name: 'address_hash', type: 'text', isNumber: false },
    { name: 'operations', type: 'bigint', isNumber: true },
  ],
  rows: [
    [`0x${'d'.repeat(40)}`, '40'],
    [hostile, '10'],
  ],
  isCut: false,
  ms: 1_200,
};

const exploring: Explored = {
  questions: [
    { name: 'operations-daily', question: 'How many user operations were there each day?' },
    { name: 'top-senders', question: 'Which accounts sent most?' },
  ],
  chosen: null,
  problem: null,
  dictionary: { is: 'tables', tables: [] },
  chains,
  query,
};

const described = {
  table: 'blocks',
  kind: 'table',
  column: 'size',
  type: 'bigint',
  unit: 'bytes',
  is_key: false,
  description: hostile,
} as const;

const cases: Readonly<Record<string, () => Html>> = {
  'nothing needs anybody': () => needsYou(nothing, called),
  'much needs somebody': () => needsYou(trouble, called),
  'nothing is asked': () => why(asked, { is: 'nothing-asked' }, called),
  'what was asked is refused': () => why(asked, { is: 'refused', message: 'No.' }, called),
  'no row has it': () =>
    why(asked, { is: 'found', findings: { term, found: [], lookedAt: ['a.b', 'c.d'] } }, called),
  'rows have it': () =>
    why(
      asked,
      {
        is: 'found',
        findings: {
          term,
          lookedAt: ['explorer.blocks.hash'],
          found: [
            {
              table: 'explorer.blocks',
              column: 'hash',
              isCut: true,
              rows: [
                row,
                { ...row, removed_at: null, archived: { is: 'not-kept' }, changes: [] },
                { ...row, page_id: 8, origin: null, archived: { is: 'not-found', items: 2 } },
              ],
            },
          ],
        },
      },
      called,
    ),
  'no question is chosen': () => explore(exploring),
  'a question that there is not': () => explore({ ...exploring, problem: 'There is none.' }),
  'a question with its answer': () =>
    explore({
      ...exploring,
      chosen: {
        name: 'top-senders',
        question: 'Which accounts sent most?',
        fields: [
          { name: 'chain', value: '10', meaning: 'number of the chain' },
          { name: 'days', value: '7', meaning: 'so many days' },
        ],
        chart: { of: 'operations', by: null, split: null },
        sql: "select '</pre><script>'",
        command: 'explorer-etl query top-senders --days 7',
        answer: { is: 'answered', table: ranking },
      },
      dictionary: { is: 'search', word: hostile, entries: [described], isCut: true },
    }),
  'a question along time': () =>
    answerTable(
      daily,
      { of: 'operations', by: 'day', split: 'version' },
      { name: 'entry-points', query },
    ),
  'an empty answer': () =>
    answerTable({ ...daily, rows: [] }, null, { name: 'late-arrivals', query }),
  'a table of the dictionary': () =>
    explore({
      ...exploring,
      dictionary: {
        is: 'table',
        name: 'blocks',
        entries: [{ ...described, column: null }, described],
      },
    }),
};

describe.each(Object.entries(cases))('%s', (_name, made) => {
  const text = () => spell(made());

  test('reads so', async () => {
    expect((await text()).replaceAll(/>\s*</gu, '>\n<')).toMatchSnapshot();
  });

  test('holds no markup, direction or control of others', async () => {
    expect((await text()).replaceAll('\n', '')).not.toMatch(/<script|[\p{Cc}\p{Cf}\p{Cs}]/u);
  });
});

/** hono makes an object of a text. */
const spell = async (piece: Html) => (await piece).toString();

test('a long text is cut between characters, and says so', async () => {
  expect(await spell(foreign('𝔸'.repeat(50), 3))).toBe('<bdi>𝔸𝔸𝔸…</bdi>');
  expect(await spell(foreign('𝔸𝔸𝔸', 3))).toBe('<bdi>𝔸𝔸𝔸</bdi>');
  expect(await spell(foreignLines('Item', 'ab', 100))).toContain('98 of 100 characters');
});
