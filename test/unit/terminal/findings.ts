import type { Note, OpenFinding } from '../../../src/documents/finding.ts';

type ByKind<Finding extends { kind: string }> = {
  readonly [Kind in Finding['kind']]: Extract<Finding, { kind: Kind }>;
};

/** A finding of each kind. */
export const open: ByKind<OpenFinding> = {
  gap: { kind: 'gap', unit: 'blocks', from_block: 105_000_000, to_block: 108_907_800 },
  unproved: { kind: 'unproved', lacks: 'coverage' },
  'batches-not-read': { kind: 'batches-not-read', from_batch: 1, to_batch: 400_005 },
  'no-batch-found': { kind: 'no-batch-found' },
  'batches-empty-unproved': { kind: 'batches-empty-unproved', from_batch: 8, to_batch: 8 },
  'batch-not-linked': { kind: 'batch-not-linked', batch: 9 },
  'border-not-linked': { kind: 'border-not-linked', lower_batch: 9, upper_batch: 12 },
  'batch-awaits-update': { kind: 'batch-awaits-update', batch: 13, blocks: 120 },
  'batch-without-parents': { kind: 'batch-without-parents', batch: 14, blocks: 1 },
  'batch-ends-early': { kind: 'batch-ends-early', batch: 15 },
  'batch-never-read-whole': { kind: 'batch-never-read-whole', batch: 16 },
  'batch-not-settled': { kind: 'batch-not-settled', batch: 17 },
  'batches-not-settled': {
    kind: 'batches-not-settled',
    from_batch: 20,
    to_batch: 30,
    batches: 9,
    settled_to: 19,
  },
  'batch-blocks-differ': { kind: 'batch-blocks-differ', batch: 31, stored: 0, read: 1_800 },
  'batch-range-differs': {
    kind: 'batch-range-differs',
    batch: 32,
    stored_from_block: 105_000_000,
    stored_to_block: 105_001_799,
    read_from_block: 105_000_001,
    read_to_block: 105_001_800,
  },
  'batch-proved-not-linked': { kind: 'batch-proved-not-linked', batch: 33, blocks: 1 },
  'batch-proved-awaits-update': { kind: 'batch-proved-awaits-update', batch: 34, blocks: 2 },
  'batch-list-differs': {
    kind: 'batch-list-differs',
    batch: 35,
    from_block: 1,
    to_block: 2,
    listed_from_block: 1,
    listed_to_block: 3,
  },
  'batch-empty-but-listed': {
    kind: 'batch-empty-but-listed',
    batch: 36,
    listed_from_block: 4,
    listed_to_block: 5,
  },
  'totals-differ': { kind: 'totals-differ' },
  quarantine: { kind: 'quarantine', items: 2 },
  state: { kind: 'state', state: 'degraded', reason: 'truncated: 批次 \u001b[2J is short' },
  'batches-without-blocks': { kind: 'batches-without-blocks', from_batch: 44, to_batch: 45 },
};

const drifted = { path: 'rewards.0.批次', occurrences: 1, first_page_id: 7 };

/** A note of each kind. */
export const notes: ByKind<Note> = {
  'ranking-moved': { kind: 'ranking-moved', walks: 3 },
  'ranking-skipped': { kind: 'ranking-skipped' },
  'ranking-empty': { kind: 'ranking-empty' },
  'items-dropped': { kind: 'items-dropped', items: 1 },
  'lower-border-unproved': { kind: 'lower-border-unproved', batch: 3, empty_below: 2 },
  'new-field': { kind: 'new-field', ...drifted },
  'vanished-field': { kind: 'vanished-field', ...drifted },
  'mistyped-field': { kind: 'mistyped-field', ...drifted, type: 'null' },
  'malformed-field': { kind: 'malformed-field', ...drifted, expected: 'a hash' },
  'new-value': { kind: 'new-value', ...drifted, value: 'in_"space' },
};
