import type { Note, OpenFinding } from '../../../src/documents/finding.ts';
import type { RowFinding } from '../../../src/documents/row-finding.ts';

type ByKind<Finding extends { kind: string }> = {
  readonly [Kind in Finding['kind']]: Extract<Finding, { kind: Kind }>;
};

/** A finding of each kind. */
export const open: ByKind<OpenFinding> = {
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

/** A note of each kind. */
export const notes: ByKind<Note> = {
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

/** What can be wrong with rows, one of each kind. */
export const rowFindings: ByKind<RowFinding> = {
  row_changed: { kind: 'row_changed', table, key: { chain_id: 10, hash: `0x${'ab'.repeat(32)}` } },
  rows_gone: { kind: 'rows_gone', table, ...moment, rows: 1, written: 1_200 },
  rows_added: { kind: 'rows_added', table, ...moment, sources: [], rows: 1 },
  rows_older: { kind: 'rows_older', table, ...moment, rows: 12 },
  address_gone: { kind: 'address_gone', table, key: { chain_id: 10, hash: '0xab' } },
  chain_gone: { kind: 'chain_gone', table: 'explorer.chains', key: { chain_id: 10 } },
  table_gone: { kind: 'table_gone', table },
  columns_gone: { kind: 'columns_gone', table, columns: ['fee', 'hash'] },
};
