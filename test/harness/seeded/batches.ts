import { blocks, readBatches } from '../../../src/lists/optimism-batch-blocks/tables.ts';
import { type Numbers, pollTime, pollTop, series } from './ledger.ts';
import { type Lanes, lostBatchOf } from './lists.ts';
import {
  batchesPerPoll,
  blocksOf,
  blocksPerBatch,
  pageItems,
  type SeededChain,
  type SeededList,
  type SeededSize,
} from './size.ts';
import { fill, beforeNow, blockTime, hashSql, short } from './values.ts';

const pagesPerBatch = blocksPerBatch / pageItems;

/** Batches with their blocks: all settled but the newest; one of the history is unread. */
export function growBatches(
  size: SeededSize,
  chain: SeededChain,
  numbers: Numbers,
  lanes: Lanes,
): string[] {
  const { id, batches: list } = chain;
  if (list === null) return [];
  const lost = lostBatchOf(chain);
  const first = { walk: numbers.walk, page: numbers.page, run: numbers.run + 1 };
  return [
    ...readHistory(size, list, numbers, lanes, lost),
    ...followLatestBatch(size, list, numbers, lanes),
    ...blockRows(size, chain, lost, first.page),
    `insert into etl.batch_observations (
       chain_id, operation, batch_number, top, bottom, parent_hash, times_seen, walk_id, run_id
     )
     select ${id}, '${lanes.live.operation}', n, n * ${blocksPerBatch}, (n - 1) * ${blocksPerBatch} + 1,
            ${hashSql('block', id, `(n - 1) * ${blocksPerBatch}`)}, 1, ${first.walk} + n, ${first.run}
     from generate_series(1, ${list.top}) as n
     where n <> ${lost}`,
    `update etl.feeds set latest_batch = ${list.top}, target_numbers = '{[1,)}'
     where chain_id = ${id} and operation = '${lanes.live.operation}'`,
  ];
}

/** A batch's pages, from its top down; `number` as SQL over `n`. */
const pagesOf = (number: string) => {
  const top = `((${number}) * ${blocksPerBatch} - s * ${pageItems})`;
  const bottom = `(${top} - ${pageItems} + 1)`;
  const cursor = (height: string) =>
    `jsonb_build_object('block_number', ${height}, 'items_count', ${pageItems})`;
  return {
    cursor_in: `case when s > 0 then ${cursor(`(${top} + 1)`)} end`,
    cursor_out: `case when s < ${pagesPerBatch - 1} then ${cursor(bottom)} end`,
    inserted: String(pageItems),
    top,
    bottom,
    heights: `int8multirange(int8range(${bottom}, ${top} + 1))`,
  };
};

/** What a walk of a whole batch says; `number` as SQL over `n`. */
const wholeWalk = (number: string) => ({
  scope: `jsonb_build_object('batch', ${number})`,
  top: `(${number}) * ${blocksPerBatch}`,
  bottom: `(${number} - 1) * ${blocksPerBatch} + 1`,
  pages: String(pagesPerBatch),
  items: String(blocksPerBatch),
  inserted: String(blocksPerBatch),
});

/** One run, a walk for each batch. */
function readHistory(
  size: SeededSize,
  { base, polls }: SeededList,
  numbers: Numbers,
  { backfill }: Lanes,
  lost: number,
): string[] {
  const begun = beforeNow(size, `${polls + 1} * ${size.pollMs}::bigint`);
  return series(numbers, {
    of: backfill,
    runs: { count: 1, at: begun },
    walks: base,
    pages: pagesPerBatch,
    at: `(${begun} + n * interval '1 second')`,
    says: [{ walk: wholeWalk('n'), page: pagesOf('n'), but: `n = ${lost}` }],
  });
}

/** A run for each poll: it finds the next batch, or nothing right above the newest. */
function followLatestBatch(
  size: SeededSize,
  list: SeededList,
  numbers: Numbers,
  { live }: Lanes,
): string[] {
  const newest = pollTop(list, batchesPerPoll);
  const before = pollTop(list, batchesPerPoll, '(n - 1)');
  const isMiss = `${newest} = ${before}`;
  const probe = (number: string) => `jsonb_build_object('batch', ${number}, 'probe', true)`;
  return series(numbers, {
    of: live,
    runs: { count: list.polls, latestBatchBefore: before },
    walks: list.polls,
    pages: pagesPerBatch,
    at: pollTime(size, list),
    says: [
      { walk: { ...wholeWalk(newest), scope: probe(newest) }, page: pagesOf(newest), but: isMiss },
      {
        walk: { scope: probe(`${newest} + 1`), pages: '1' },
        page: { items: '0', rows: '0' },
        but: `not (${isMiss})`,
        pagesBut: `not (${isMiss}) or s > 0`,
      },
    ],
  });
}

function blockRows(
  size: SeededSize,
  chain: SeededChain,
  lost: number,
  firstPage: number,
): string[] {
  const { id, batches: list } = chain;
  const top = list?.top ?? 0;
  const polls = list?.polls ?? 0;
  const batch = `(1 + (n - 1) / ${blocksPerBatch})`;
  const at = (number: string) =>
    `${beforeNow(size, `${polls + 1} * ${size.pollMs}::bigint`)} + (${number}) * interval '1 second'`;
  return [
    fill({
      table: blocks,
      chain: id,
      count: blocksOf(chain),
      but: `${batch} = ${lost}`,
      columns: {
        height: 'n::bigint',
        hash: hashSql('block', id, 'n'),
        parent_hash: hashSql('block', id, 'n - 1'),
        timestamp: blockTime(size, blocksOf(chain), 'n'),
        type: `'block'::text`,
        miner_hash: hashSql('address', id, '1', short),
        size: '1234::bigint',
        is_pending_update: 'false',
        transactions_count: '7::bigint',
        gas_used: '1000000::numeric(78, 0)',
        optimism_batch_number: `${batch}::bigint`,
      },
      stored: { at: at(batch), page: `${firstPage} + (n - 1) / ${pageItems} + 1` },
    }),
    fill({
      table: readBatches,
      chain: id,
      count: top,
      but: `n = ${lost}`,
      columns: {
        batch_number: 'n::bigint',
        state: `case when n < ${top} then 'settled' else 'open' end`,
        blocks_count: `${blocksPerBatch}::bigint`,
        first_height: `(1 + (n - 1) * ${blocksPerBatch})::bigint`,
        last_height: `(n * ${blocksPerBatch})::bigint`,
        is_contiguous: 'true',
        is_linked: 'true',
        is_verified: `n < ${top}`,
        walked_at: at('n'),
      },
      stored: { at: at('n'), page: `${firstPage} + n * ${pagesPerBatch}` },
    }),
  ];
}
