import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { findingText } from '../../../src/words/finding-text.ts';
import { noteText } from '../../../src/words/note-text.ts';
import { verifyText } from '../../../src/cli/verify-text.ts';
import {
  headFinding,
  note,
  openFinding,
  type Note,
  type OpenFinding,
  type ToldFinding,
} from '../../../src/documents/finding.ts';
import { verifyDocument, type VerifyDocument } from '../../../src/documents/verify.ts';
import { plainLook, type Look } from '../../../src/terminal/look.ts';
import { widthOf } from '../../../src/terminal/width.ts';
import { notes, open } from './findings.ts';
import { looks, usual } from './looks.ts';

const command = 'explorer-etl repair --chain 10 --operation optimism-batch-blocks';
const told = (...findings: readonly OpenFinding[]): ToldFinding[] =>
  findings.map((finding) => ({ ...finding, command }));

type Feed = VerifyDocument['feeds'][number];

const feedOf = (name: { chain: string; chain_id: number; operation: string }): Feed => ({
  ...name,
  feed: `${name.chain_id}/${name.operation}`,
  kind: 'newest-first',
  unit: 'blocks',
  state: 'complete',
  covered: [
    {
      from: 0,
      to: 108_907_800,
      as_of: '2026-11-22T12:24:01.5+00:00',
      newest_as_of: '2026-11-22T12:24:01.5+00:00',
    },
  ],
  head: [],
  open: [],
  notes: [],
  repair: null,
});

const operations = feedOf({ chain: 'optimism', chain_id: 10, operation: 'user-operations' });
const batches: Feed = {
  ...feedOf({ chain: 'optimism', chain_id: 10, operation: 'optimism-batch-blocks' }),
  kind: 'numbered',
  unit: 'batches',
  state: 'open',
  covered: [
    {
      from: 1,
      to: 9,
      as_of: '2026-11-20T12:24:01.5+00:00',
      newest_as_of: '2026-11-22T12:24:01.5+00:00',
    },
    {
      from: 15,
      to: 19,
      as_of: '2026-11-21T12:24:01.5+00:00',
      newest_as_of: '2026-11-21T12:24:01.5+00:00',
    },
  ],
  head: [{ kind: 'batches-wait', from_batch: 21, to_batch: 22, waits_for: 'next-batch' }],
  open: told(
    ...[10, 11, 12, 13, 14, 20, 31, 33, 35, 37, 39, 41, 43].map((batch) => ({
      kind: 'batch-not-settled' as const,
      batch,
    })),
    open['border-not-linked'],
    { ...open['border-not-linked'], lower_batch: 12, upper_batch: 13 },
    open['batches-not-read'],
  ),
  repair: { command, requests: 1_234, credits: 24_680, at_most: 1_234 },
};
const factories: Feed = {
  ...feedOf({ chain: '批次 chain', chain_id: 42_220, operation: 'factories' }),
  kind: 'ranked',
  unit: 'ranks',
  state: 'open',
  covered: [
    {
      from: 1,
      to: 300,
      as_of: '2026-11-22T11:00:00Z',
      newest_as_of: '2026-11-22T11:00:00Z',
    },
  ],
  open: [
    {
      ...open.quarantine,
      command: 'explorer-etl quarantine list --chain 42220 --operation factories',
    },
    { ...open.state, command: 'explorer-etl sync --chain 42220 --operation factories' },
  ],
  notes: [
    notes['ranking-moved'],
    ...['a', 'b', 'c', 'd', 'e', 'f'].map((path) => ({ ...notes['new-field'], path })),
    ...['a', 'b', 'c', 'd', 'e'].map((value) => ({ ...notes['new-value'], value })),
  ],
};

const documentOf = (feeds: readonly Feed[]): VerifyDocument => {
  const isOpen = feeds.filter(({ state }) => state === 'open');
  const repair = isOpen.find((feed) => feed.repair !== null)?.repair ?? null;
  const document: VerifyDocument = {
    schema: 'explorer-etl/verify/1',
    exit: isOpen.length === 0 ? { code: 0, reason: 'done' } : { code: 1, reason: 'open' },
    at: '2026-11-22T12:30:00.000Z',
    counts: {
      feeds: feeds.length,
      complete: feeds.length - isOpen.length,
      open: isOpen.length,
      findings: isOpen.reduce((sum, feed) => sum + feed.open.length, 0),
      notes: feeds.reduce((sum, feed) => sum + feed.notes.length, 0),
    },
    feeds: [...feeds],
    repair: repair && { ...repair, command: 'explorer-etl repair' },
  };
  // As the schema says, or the texts below would be of something that is never told.
  verifyDocument.parse(document);
  return document;
};

const worlds = {
  complete: documentOf([operations]),
  open: documentOf([batches, operations, factories]),
  everything: documentOf(
    Object.values(open).map((finding, at): Feed => {
      const feed = feedOf({ chain: 'optimism', chain_id: at, operation: finding.kind });
      return { ...feed, state: 'open', covered: [], open: told(finding) };
    }),
  ),
  noted: documentOf([{ ...operations, notes: Object.values(notes) }]),
  nothing: documentOf([]),
};

describe.each(Object.entries(worlds))('verify of %s', (name, document) => {
  test('on 80 columns', async () => {
    await expect(verifyText(usual, document)).toMatchFileSnapshot(`snapshots/verify-${name}.txt`);
  });

  test.each(Object.values(looks))('fits $columns columns, coloured: $isColoured', (look) => {
    const widest = Math.max(...verifyText(look, document).split('\n').map(widthOf));
    // Commands stay whole, to be copied; as hashes do: the longest takes 74 columns.
    expect(widest).toBeLessThanOrEqual(Math.max(look.columns, 74));
  });

  test('colours change nothing but the colours', () => {
    const coloured = verifyText({ ...usual, isColoured: true }, document);
    expect(coloured).toContain('\u001b');
    expect(stripVTControlCharacters(coloured)).toBe(verifyText(usual, document));
  });

  test('in a file nothing is broken but what a terminal breaks', () => {
    const wordsOf = (look: Look) => verifyText(look, document).split(/\s+/u);
    expect(wordsOf(plainLook)).toEqual(wordsOf(usual));
  });
});

test('a finding and a note of a kind that this version does not know are shown as they are', () => {
  const unheard = { kind: 'unheard_of', batch: 5, command: null };
  const wild = { kind: 'wild\u001b', from_block: 1 };

  expect(findingText(unheard as unknown as OpenFinding)).toBe(JSON.stringify(unheard));
  expect(findingText(wild as unknown as OpenFinding)).toContain('"from_block":1');
  expect(noteText({ ...unheard, path: 'a' } as unknown as Note)).toContain('unheard_of');
  const feed: Feed = { ...operations, state: 'open' };
  const shown = verifyText(plainLook, {
    ...worlds.open,
    feeds: [{ ...feed, open: [unheard as unknown as ToldFinding] }],
  });
  expect(shown).toContain('unheard_of');
});

/** The texts in which SQL makes findings. */
const sources = ['sql', 'src/lists', 'src/report', 'src/drift', 'src/quarantine']
  .flatMap((folder) => {
    const path = join(import.meta.dirname, '../../..', folder);
    return readdirSync(path, { recursive: true, encoding: 'utf8' })
      .filter((file) => /proof|notes|evidence|record|list|\.sql$/u.test(file))
      .map((file) => readFileSync(join(path, file), 'utf8'));
  })
  .join('\n');

test('every kind that SQL tells is known, and every known kind is told', () => {
  const known = [openFinding, headFinding, note].flatMap((one) =>
    one.options.map(({ shape }) => shape.kind.value as string),
  );
  const made = [...sources.matchAll(/'kind', '([a-z-]+)'/gu)].map(([, kind = '']) => kind);

  expect(made.length).toBeGreaterThan(20);
  expect(made.filter((kind) => !known.includes(kind))).toEqual([]);
  expect(known.filter((kind) => !sources.includes(`'${kind}'`))).toEqual([]);
});

test('docs/operating.md has a row for each kind of finding and of note', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/operating.md'), 'utf8');
  const from = page.indexOf('## Verify and repair');
  const part = page.slice(from, page.indexOf('\n### ', from));
  const rows = [...part.matchAll(/^\| `([a-z-]+)` /gmu)].map(([, kind]) => kind);

  expect(rows).toEqual([...Object.keys(open), ...Object.keys(notes)]);
});
