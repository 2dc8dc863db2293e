import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findingText } from '../../../src/cli/finding-text.ts';
import { noteText } from '../../../src/cli/note-text.ts';
import { verifyText } from '../../../src/cli/verify-text.ts';
import {
  headFinding,
  note,
  openFinding,
  type Note,
  type OpenFinding,
  type ToldFinding,
} from '../../../src/documents/finding.ts';
import type { RowFinding } from '../../../src/documents/row-finding.ts';
import { verifyDocument, type VerifyDocument } from '../../../src/documents/verify.ts';
import { plainLook, type Look } from '../../../src/terminal/look.ts';
import { widthOf } from '../../../src/terminal/width.ts';

type ByKind<Finding extends { kind: string }> = {
  readonly [Kind in Finding['kind']]: Extract<Finding, { kind: Kind }>;
};

const open: ByKind<OpenFinding> = {
  gap: { kind: 'gap', unit: 'blocks', from_block: 105_000_000, to_block: 108_907_800 },
  unproved: { kind: 'unproved', lacks: 'coverage' },
  batches_not_read: { kind: 'batches_not_read', from_batch: 1, to_batch: 400_005 },
  no_batch_found: { kind: 'no_batch_found' },
  batches_empty_unproved: { kind: 'batches_empty_unproved', from_batch: 8, to_batch: 8 },
  batch_not_linked: { kind: 'batch_not_linked', batch: 9 },
  border_not_linked: { kind: 'border_not_linked', lower_batch: 9, upper_batch: 12 },
  batch_awaits_update: { kind: 'batch_awaits_update', batch: 13, blocks: 120 },
  batch_without_parents: { kind: 'batch_without_parents', batch: 14, blocks: 1 },
  batch_ends_early: { kind: 'batch_ends_early', batch: 15 },
  batch_never_read_whole: { kind: 'batch_never_read_whole', batch: 16 },
  batch_not_settled: { kind: 'batch_not_settled', batch: 17 },
  batches_not_settled: {
    kind: 'batches_not_settled',
    from_batch: 20,
    to_batch: 30,
    batches: 9,
    settled_to: 19,
  },
  batch_blocks_differ: { kind: 'batch_blocks_differ', batch: 31, stored: 0, read: 1_800 },
  batch_range_differs: {
    kind: 'batch_range_differs',
    batch: 32,
    stored_from_block: 105_000_000,
    stored_to_block: 105_001_799,
    read_from_block: 105_000_001,
    read_to_block: 105_001_800,
  },
  batch_proved_not_linked: { kind: 'batch_proved_not_linked', batch: 33, blocks: 1 },
  batch_proved_awaits_update: { kind: 'batch_proved_awaits_update', batch: 34, blocks: 2 },
  batch_list_differs: {
    kind: 'batch_list_differs',
    batch: 35,
    from_block: 1,
    to_block: 2,
    listed_from_block: 1,
    listed_to_block: 3,
  },
  batch_empty_but_listed: {
    kind: 'batch_empty_but_listed',
    batch: 36,
    listed_from_block: 4,
    listed_to_block: 5,
  },
  damaged_rows: { kind: 'damaged_rows', unit: 'batches', from_block: 4, to_block: 5 },
  damaged_ranking: { kind: 'damaged_ranking' },
  totals_differ: { kind: 'totals_differ' },
  quarantine: { kind: 'quarantine', items: 2 },
  state: { kind: 'state', state: 'degraded', reason: 'truncated: 批次 \u001b[2J is short' },
};

const drifted = { path: 'rewards.0.批次', occurrences: 1, first_page_id: 7 };

const notes: ByKind<Note> = {
  ranking_moved: { kind: 'ranking_moved', walks: 3 },
  ranking_skipped: { kind: 'ranking_skipped' },
  ranking_empty: { kind: 'ranking_empty' },
  items_dropped: { kind: 'items_dropped', items: 1 },
  lower_border_unproved: { kind: 'lower_border_unproved', batch: 3, empty_below: 2 },
  new_field: { kind: 'new_field', ...drifted },
  vanished_field: { kind: 'vanished_field', ...drifted },
  mistyped_field: { kind: 'mistyped_field', ...drifted, type: 'null' },
  malformed_field: { kind: 'malformed_field', ...drifted, expected: 'a hash' },
  new_value: { kind: 'new_value', ...drifted, value: 'in_"space' },
};

const moment = {
  chain_id: 10,
  first_seen_at: '2026-11-22T11:26:42.099+00:00',
  sources: [
    {
      feed: '10/user-operations',
      walk_id: 3,
      first_page_id: 40,
      last_page_id: 44,
      batch: null,
      from_block: 105_000_000,
      to_block: 105_000_100,
    },
  ],
};
const table = 'explorer.user_operations';

const rowFindings: ByKind<RowFinding> = {
  row_changed: { kind: 'row_changed', table, key: { chain_id: 10, hash: `0x${'ab'.repeat(32)}` } },
  rows_gone: { kind: 'rows_gone', table, ...moment, rows: 1, written: 1_200 },
  rows_added: { kind: 'rows_added', table, ...moment, sources: [], rows: 1 },
  rows_older: { kind: 'rows_older', table, ...moment, rows: 12 },
  address_gone: { kind: 'address_gone', table, key: { chain_id: 10, hash: '0xab' } },
  chain_gone: { kind: 'chain_gone', table: 'explorer.chains', key: { chain_id: 10 } },
  table_gone: { kind: 'table_gone', table },
  columns_gone: { kind: 'columns_gone', table, columns: ['fee', 'hash'] },
};

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
  head: [{ kind: 'batches_wait', from_batch: 21, to_batch: 22, waits_for: 'next_batch' }],
  open: told(
    ...[10, 11, 12, 13, 14, 20, 31, 33, 35, 37, 39, 41, 43].map((batch) => ({
      kind: 'batch_not_settled' as const,
      batch,
    })),
    open.border_not_linked,
    { ...open.border_not_linked, lower_batch: 12, upper_batch: 13 },
    open.batches_not_read,
  ),
  repair: { command, requests: 1_234, credits: 24_680 },
};
const factories: Feed = {
  ...feedOf({ chain: '批次 chain', chain_id: 42_220, operation: 'factories' }),
  kind: 'ranked',
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
    notes.ranking_moved,
    ...['a', 'b', 'c', 'd', 'e', 'f'].map((path) => ({ ...notes.new_field, path })),
    ...['a', 'b', 'c', 'd', 'e'].map((value) => ({ ...notes.new_value, value })),
  ],
};

const documentOf = (
  feeds: readonly Feed[],
  rows: VerifyDocument['rows'] = null,
): VerifyDocument => {
  const isOpen = feeds.filter(({ state }) => state === 'open');
  const isDone = isOpen.length === 0 && (rows === null || rows.findings.length === 0);
  const repair = isOpen.find((feed) => feed.repair !== null)?.repair ?? null;
  const document: VerifyDocument = {
    schema: 'explorer-etl/verify/1',
    exit: isDone ? { code: 0, reason: 'done' } : { code: 1, reason: 'open' },
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
    rows,
  };
  // As the schema says, or the texts below would be of something that is never told.
  verifyDocument.parse(document);
  return document;
};

const worlds = {
  complete: documentOf([operations, { ...factories, state: 'open' as const }].slice(0, 1)),
  open: documentOf([batches, operations, factories]),
  everything: documentOf([
    ...Object.values(open).map((finding, at): Feed => {
      const feed = feedOf({ chain: 'optimism', chain_id: at, operation: finding.kind });
      return { ...feed, state: 'open', covered: [], open: told(finding) };
    }),
  ]),
  noted: documentOf([{ ...operations, notes: Object.values(notes) }]),
  rows: documentOf([operations], {
    tables: 17,
    rows: 25_560,
    findings: Object.values(rowFindings),
    unlisted: 3,
    is_readable: true,
    command: 'explorer-etl repair --rows',
  }),
  nothing: documentOf([]),
};

const terminal = (columns: number, isColoured: boolean): Look => ({
  isTerminal: true,
  columns,
  isColoured,
});

test.each(Object.entries(worlds))('verify of %s', async (name, document) => {
  for (const columns of [60, 80, 140]) {
    const text = verifyText(terminal(columns, false), document);
    await expect(text).toMatchFileSnapshot(`__snapshots__/verify-${name}-${columns}.txt`);
    const [widest = 0] = text
      .split('\n')
      .map(widthOf)
      .toSorted((a, b) => b - a);
    // Commands stay whole, to be copied: none of them fits into 60 columns.
    if (columns >= 80) expect(widest).toBeLessThanOrEqual(columns);
  }
  await expect(verifyText(terminal(80, true), document)).toMatchFileSnapshot(
    `__snapshots__/verify-${name}-80-colour.txt`,
  );
  await expect(verifyText(plainLook, document)).toMatchFileSnapshot(
    `__snapshots__/verify-${name}-file.txt`,
  );
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
const sources = ['migrations', 'src/lists', 'src/report', 'src/drift', 'src/quarantine']
  .flatMap((folder) => {
    const path = join(import.meta.dirname, '../../..', folder);
    return readdirSync(path, { recursive: true, encoding: 'utf8' })
      .filter((file) => /proof|notes|evidence|views\.sql/u.test(file))
      .map((file) => readFileSync(join(path, file), 'utf8'));
  })
  .join('\n');

test('every kind that SQL tells is known, and every known kind is told', () => {
  const known = [openFinding, headFinding, note].flatMap((one) =>
    one.options.map(({ shape }) => shape.kind.value as string),
  );
  const made = [...sources.matchAll(/'kind', '([a-z_]+)'/gu)].map(([, kind = '']) => kind);

  expect(made.length).toBeGreaterThan(20);
  expect(made.filter((kind) => !known.includes(kind))).toEqual([]);
  expect(known.filter((kind) => !sources.includes(`'${kind}'`))).toEqual([]);
});
