import { blocks, readBatches } from '../../../src/lists/optimism-batch-blocks/tables.ts';
import { type Lanes, type Ledger, pollTime, pollTop } from './ledger.ts';
import {
  batchesPerPoll,
  beforeNow,
  blocksOf,
  blocksPerBatch,
  blockTime,
  hashSql,
  lostBatch,
  pageItems,
  type SeededChain,
  type SeededList,
  short,
} from './size.ts';

const pagesPerBatch = blocksPerBatch / pageItems;

/** Batches with their blocks: all settled but the newest; one of the history is unread. */
export function growBatches(
  ledger: Ledger,
  chain: SeededChain,
  list: SeededList,
  lanes: Lanes,
): void {
  const { id } = chain;
  const { operation } = lanes.live.lane;
  const lost = lostBatch(list);
  const first = { walk: ledger.walk, page: ledger.page, run: ledger.run + 1 };
  readHistory(ledger, list, lanes, lost);
  followLatestBatch(ledger, list, lanes);
  fillTables(ledger, chain, list, first.page);
  ledger.statements.push(
    `insert into etl.batch_observations (
       chain_id, operation, batch_number, top, bottom, parent_hash, times_seen, walk_id, run_id
     )
     select ${id}, '${operation}', n, n * ${blocksPerBatch}, (n - 1) * ${blocksPerBatch} + 1,
            ${hashSql('block', id, `(n - 1) * ${blocksPerBatch}`)}, 1, ${first.walk} + n, ${first.run}
     from generate_series(1, ${list.top}) as n
     where n <> ${lost}`,
    `update etl.feeds set latest_batch = ${list.top}, target_numbers = '{[1,)}'
     where chain_id = ${id} and operation = '${operation}'`,
  );
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

const historyBegan = ({ size }: Ledger, { polls }: SeededList) =>
  beforeNow(size, `${polls + 1} * ${size.pollMs}::bigint`);

/** One run, a walk for each batch. */
function readHistory(ledger: Ledger, list: SeededList, { backfill }: Lanes, lost: number): void {
  const begun = historyBegan(ledger, list);
  ledger.series({
    of: backfill,
    runs: { count: 1, at: begun },
    walks: list.base,
    pages: pagesPerBatch,
    at: `(${begun} + n * interval '1 second')`,
    says: [{ walk: wholeWalk('n'), page: pagesOf('n'), but: `n = ${lost}` }],
  });
}

/** A run for each poll: it finds the next batch, or nothing right above the newest. */
function followLatestBatch(ledger: Ledger, list: SeededList, { live }: Lanes): void {
  const newest = pollTop(list, batchesPerPoll);
  const before = pollTop(list, batchesPerPoll, '(n - 1)');
  const isMiss = `${newest} = ${before}`;
  const probe = (number: string) => `jsonb_build_object('batch', ${number}, 'probe', true)`;
  ledger.series({
    of: live,
    runs: { count: list.polls, latestBatchBefore: before },
    walks: list.polls,
    pages: pagesPerBatch,
    at: pollTime(ledger.size, list),
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

function fillTables(ledger: Ledger, chain: SeededChain, list: SeededList, firstPage: number): void {
  const { id } = chain;
  const { top } = list;
  const batch = `(1 + (n - 1) / ${blocksPerBatch})`;
  const at = (number: string) =>
    `${historyBegan(ledger, list)} + (${number}) * interval '1 second'`;
  ledger.rows({
    table: blocks,
    chain: id,
    count: blocksOf(chain),
    but: `${batch} = ${lostBatch(list)}`,
    columns: {
      height: 'n::bigint',
      hash: hashSql('block', id, 'n'),
      parent_hash: hashSql('block', id, 'n - 1'),
      timestamp: blockTime(ledger.size, blocksOf(chain), 'n'),
      type: `'block'::text`,
      miner_hash: hashSql('address', id, '1', short),
      size: '1234::bigint',
      is_pending_update: 'false',
      transactions_count: '7::bigint',
      gas_used: '1000000::numeric(78, 0)',
      optimism_batch_number: `${batch}::bigint`,
    },
    stored: { at: at(batch), page: `${firstPage} + (n - 1) / ${pageItems} + 1` },
  });
  ledger.rows({
    table: readBatches,
    chain: id,
    count: top,
    but: `n = ${lostBatch(list)}`,
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
  });
}
