import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { finding, findingOf, findingText, type RawFinding } from '../../../src/status/findings.ts';
import { verifyDocument, type VerifyDocument } from '../../../src/status/verify.ts';
import { expectToFit, usual } from './looks.ts';
import { verifyText } from '../../../src/cli/verify.ts';
import { type Look, plainLook } from '../../../src/terminal/layout.ts';

const source = { chain_id: 10, operation: 'optimism-batch-blocks', unit: 'batches' } as const;
const read = (raw: RawFinding) => findingOf(raw, source, 'unverified');
const at = (from: number, to = from) => ({ from, to });

type Feed = VerifyDocument['feeds'][number];

const feedOf = (
  [chain, chain_id, operation, unit]: readonly [string, number, string, Feed['unit']],
  found: Readonly<Record<'open' | 'notes', readonly RawFinding[]>>,
  state: Feed['state'],
): Feed => {
  const placed = { chain_id, operation, unit: unit === 'ranks' ? null : unit };
  const caveat = (raw: RawFinding) => findingOf(raw, placed, 'caveat');
  return {
    feed: `${chain_id}/${operation}`,
    chain_id,
    chain,
    operation,
    kind: 'any',
    is_wanted: true,
    unit,
    state,
    covered: [],
    open: found.open.map(caveat),
    notes: found.notes.map(caveat),
    repair: null,
  };
};

const day = (date: string) => `${date}T12:24:01.5+00:00`;
const covered = (from: number, to: number, as_of: string, newest_as_of = as_of) => ({
  ...at(from, to),
  as_of,
  newest_as_of,
});

const blocks: Feed = {
  ...feedOf(
    ['optimism', 10, 'optimism-batch-blocks', 'batches'],
    {
      open: [
        ...[10, 11, 12, 13, 14, 20, 31, 33, 35, 37, 39, 41, 43].map((batch) => ({
          detail: 'not-verified',
          ...at(batch),
        })),
        { detail: 'border-not-linked', ...at(9, 12) },
        {
          detail: 'block-range-differs',
          ...at(32),
          stored: [105_000_000, 105_001_799],
          read: null,
        },
        { detail: 'awaits-update', ...at(34), count: 1 },
        { detail: 'not-downloaded', ...at(1, 400_005) },
      ],
      notes: [
        { detail: 'waits-for-next-batch', ...at(400_006, 400_007) },
        { detail: 'lower-edge', ...at(3), count: 2 },
      ],
    },
    'open',
  ),
  covered: [
    covered(1, 9, day('2026-11-20'), day('2026-11-22')),
    covered(15, 19, day('2026-11-21')),
  ],
  repair: {
    command: 'explorer-etl repair --chain 10 --operation optimism-batch-blocks',
    requests: 1_234,
    credits: 24_680,
    at_most: 1_234,
  },
};
const operations: Feed = {
  ...feedOf(['optimism', 10, 'user-operations', 'blocks'], { open: [], notes: [] }, 'complete'),
  covered: [covered(0, 108_907_800, day('2026-11-22'))],
};
const factories: Feed = {
  ...feedOf(
    ['批次 chain', 42_220, 'factories', 'ranks'],
    {
      open: [
        { detail: 'quarantine', count: 2 },
        { detail: 'feed-state', state: 'degraded: truncated: 批次 \u001b[2J is short' },
      ],
      notes: [
        { detail: 'rows-moved', count: 3 },
        { detail: 'new-field', count: 6, items: ['a', 'b', 'c', 'rewards.0.批次'] },
        { detail: 'new-value', count: 1, items: ['status "in_\\"space"'] },
      ],
    },
    'open',
  ),
  covered: [covered(1, 300, day('2026-11-22'))],
};
const feeds = [blocks, operations, factories];
const document = verifyDocument.parse({
  schema: 'explorer-etl/verify/2',
  at: '2026-11-22T12:30:00.000Z',
  counts: { feeds: 3, complete: 1, open: 2, findings: 19, notes: 5 },
  feeds,
  repair: { ...blocks.repair, command: 'explorer-etl repair' },
});

test('open findings are first, with their commands, then complete ranges, then notes', async () => {
  await expect(verifyText(usual, document)).toMatchFileSnapshot('snapshots/verify.txt');
  expectToFit((look) => verifyText(look, document));
});

test('colours change no text, and a file has the text of a terminal', () => {
  const coloured = verifyText({ ...usual, isColoured: true }, document);
  const wordsOf = (look: Look) => verifyText(look, document).split(/\s+/u);

  expect(coloured).toContain('\u001b');
  expect(stripVTControlCharacters(coloured)).toBe(verifyText(usual, document));
  expect(wordsOf(plainLook)).toEqual(wordsOf(usual));
});

test('an unknown detail is printed as it is, escaped, in its place', () => {
  const raw = { detail: 'wild\u001b', ...at(5) };
  const unknown = finding.parse(read(raw));

  expect(unknown).toMatchObject({ kind: 'unverified', command: null });
  expect(findingText(unknown)).toBe(String.raw`batch 5: {"detail":"wild\u001b","from":5,"to":5}`);
  expect(read({ detail: 'constructor' }).kind).toBe('unverified');
});

test('findings of an unknown list have no command', () => {
  const feed = { ...source, operation: 'made-up-list' };
  expect(findingOf({ detail: 'not-downloaded', ...at(1) }, feed, 'unverified').command).toBeNull();
});

const root = join(import.meta.dirname, '../../..');
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
/** The texts in which SQL makes findings. */
const sources = ['sql/views', 'src/status'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /verify|\.sql$/u.test(file))
    .map((file) => textOf(join(folder, file))),
);
const matchesOf = (pattern: RegExp, text: string) =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);

test('every detail that SQL writes is known', () => {
  const emitted = [
    ...matchesOf(/(?:'detail',\s*|lacks: )'([a-z-]+[a-z])'/gu, sources.join('\n')),
    ...matchesOf(/(?:then|else) '([a-z-]+)'/gu, textOf('sql/views/etl/item_notes.sql')),
    ...matchesOf(/(?:then|else) '([a-z-]+)'/gu, textOf('sql/views/etl/list_findings.sql')),
    ...matchesOf(/feed, '(no-[a-z-]+)'/gu, textOf('sql/views/etl/verification.sql')),
    ...matchesOf(/(?:then|else) '([a-z-]+)'/gu, textOf('sql/views/etl/batch_heads.sql')).map(
      (what) => `waits-for-${what}`,
    ),
  ];

  expect(new Set(emitted).size).toBeGreaterThanOrEqual(34);
  expect(emitted.filter((detail) => read({ detail }).sentence.startsWith('{'))).toEqual([]);
});

test('docs/operating.md explains each kind of finding', () => {
  const page = textOf('docs/operating.md');
  const from = page.indexOf('## Verify and repair');
  const part = page.slice(from, page.indexOf('\n### ', from));
  const rows = [...part.matchAll(/^\| `([a-z-]+)` /gmu)].map(([, kind]) => kind);

  expect(rows).toEqual(finding.shape.kind.options);
});
