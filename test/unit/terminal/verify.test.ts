import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { commandFor, finding, type Finding } from '../../../src/status/findings.ts';
import {
  needsConsent,
  repairRequests,
  verifyDocument,
  type VerifyDocument,
} from '../../../src/status/verify.ts';
import { expectToFit, usual } from './looks.ts';
import { verifyText } from '../../../src/cli/verify.ts';
import { type Look, plainLook } from '../../../src/terminal/layout.ts';

const at = (from: number, to = from) => ({ from, to });

type Feed = VerifyDocument['feeds'][number];

type Part = Pick<Finding, 'kind' | 'sentence'> & {
  readonly at?: Pick<NonNullable<Finding['place']>, 'from' | 'to'>;
  /** The command that fixes it, such as `repair`. */
  readonly remedy?: string;
};

const feedOf = (
  [chain, chain_id, operation, unit]: readonly [string, number, string, Feed['unit']],
  found: Readonly<Record<'open' | 'notes', readonly Part[]>>,
  state: Feed['state'],
): Feed => {
  const own = { chain_id, operation };
  const findingOf = ({ kind, sentence, at: place, remedy }: Part): Finding => ({
    kind,
    place: place === undefined || unit === null || unit === 'ranks' ? null : { unit, ...place },
    sentence,
    command: remedy === undefined ? null : commandFor(remedy, own),
    count: null,
  });
  return {
    feed: `${chain_id}/${operation}`,
    ...own,
    chain,
    kind: 'any',
    is_wanted: true,
    unit,
    state,
    covered: [],
    open: found.open.map(findingOf),
    notes: found.notes.map(findingOf),
    repair: null,
  };
};

const open = (kind: Finding['kind'], sentence: string, place: Part['at']): Part => ({
  kind,
  sentence,
  remedy: 'repair',
  ...(place && { at: place }),
});
const note = (kind: Finding['kind'], sentence: string, place?: Part['at']): Part => ({
  kind,
  sentence,
  ...(place && { at: place }),
});

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
        ...[10, 11, 12, 13, 14, 20, 31, 33, 35, 37, 39, 41, 43].map((batch) =>
          open('unverified', 'not confirmed by the batches around', at(batch)),
        ),
        open('unverified', 'heights or hashes do not link at the border', at(9, 12)),
        open('mismatch', 'blocks 105,000,000 to 105,001,799 stored, none downloaded', at(32)),
        open('unverified', '1 block to be updated by the service', at(34)),
        open('gap', 'not downloaded', at(1, 400_005)),
      ],
      notes: [
        note('pending-head', 'waiting for the next batch', at(400_006, 400_007)),
        note(
          'caveat',
          'complete; lower edge unverified (previous batch not downloaded); 2 empty numbers below, not confirmed',
          at(3),
        ),
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
        { kind: 'quarantine', sentence: '2 items in quarantine', remedy: 'quarantine list' },
        {
          kind: 'feed-state',
          sentence: 'degraded: truncated: 批次 \u001b[2J is short',
          remedy: 'sync',
        },
      ],
      notes: [
        note('caveat', 'rows still moved in the last of 3 reads: one that moved up may be missing'),
        note(
          'schema-drift',
          '6 unknown fields stored in extra: a, b, c, rewards.0.批次 and 2 more',
        ),
        note('schema-drift', '1 unknown value stored as it is: status "in_\\"space"'),
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

test('the repair of all feeds has --yes exactly if repair would refuse it', () => {
  const command = 'explorer-etl repair';
  const costing = (requests: number | null, at_most: number) => {
    const repair = { command, requests, credits: null, at_most };
    return { ...document, feeds: [blocks, factories].map((feed) => ({ ...feed, repair })), repair };
  };
  for (const cost of [costing(400, 900), costing(null, 501), costing(null, 500)]) {
    const isRefused = needsConsent(repairRequests(cost));
    expect(verifyText(plainLook, cost).includes('→ explorer-etl repair --yes')).toBe(isRefused);
  }
  const [known, unknown] = [costing(400, 900), costing(null, 300)];
  const mixed = { ...known, feeds: [...known.feeds.slice(1), ...unknown.feeds.slice(1)] };
  expect(needsConsent(repairRequests(mixed))).toBe(true);
  expect(verifyText(plainLook, mixed)).toContain('→ explorer-etl repair --yes');
});

const root = join(import.meta.dirname, '../../..');
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
/** The texts in which SQL makes findings. */
const sources = readdirSync(join(root, 'sql/views'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.sql'))
  .map((file) => textOf(join('sql/views', file)));
const matchesOf = (pattern: RegExp, text: string) =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);

test('every detail that SQL writes has a kind and a sentence, and no other has', () => {
  const known = [
    ...textOf('sql/views/etl/finding_kinds.sql').matchAll(/^ {2}\('([a-z-]+)', '([a-z-]+)', /gmu),
  ];
  const emitted = [
    ...matchesOf(/(?:'detail',\s*|lacks, )'([a-z-]+[a-z])'/gu, sources.join('\n')),
    ...matchesOf(/'detail', case [^\n]+? then '([a-z-]+)'/gu, sources.join('\n')),
    ...matchesOf(/'detail', case [^\n]+? else '([a-z-]+)'/gu, sources.join('\n')),
    ...matchesOf(/then '([a-z]+-(?:field|value))'/gu, textOf('sql/views/etl/item_notes.sql')),
    ...matchesOf(/(?:then|else) '(feed-[a-z-]+)'/gu, textOf('sql/views/etl/raw_findings.sql')),
    ...matchesOf(/feed, '(no-[a-z-]+)'/gu, textOf('sql/views/etl/verification.sql')),
    ...matchesOf(/(?:then|else) '([a-z-]+)'/gu, textOf('sql/views/etl/batch_heads.sql')).map(
      (what) => `waits-for-${what}`,
    ),
  ];

  expect(new Set(known.map(([, , detail]) => detail))).toEqual(new Set(emitted));
  expect(finding.shape.kind.options).toEqual([...new Set(known.map(([, kind]) => kind))]);
});

test('docs/operating.md explains each kind of finding', () => {
  const page = textOf('docs/operating.md');
  const from = page.indexOf('## Verify and repair');
  const part = page.slice(from, page.indexOf('\n### ', from));
  const rows = [...part.matchAll(/^\| `([a-z-]+)` /gmu)].map(([, kind]) => kind);

  expect(rows).toEqual(finding.shape.kind.options);
});
