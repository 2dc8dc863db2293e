import { listedBatches } from '../../../src/lists/optimism-batches/tables.ts';
import { userOperations } from '../../../src/lists/user-operations/tables.ts';
import { addresses } from '../../../src/load/tables.ts';
import {
  follow,
  type Followed,
  history,
  type Numbers,
  pollTime,
  type SeededLane,
} from './ledger.ts';
import {
  addressesOf,
  batchesPerPoll,
  blocksOf,
  blocksPerBatch,
  itemsPerPoll,
  lostBatch,
  lostPoll,
  pageItems,
  type SeededChain,
  type SeededList,
  type SeededSize,
} from './size.ts';
import { fill, beforeNow, blockTime, hashSql, short } from './values.ts';

/** The lanes of a feed, as its configuration has them. */
export interface Lanes {
  readonly live: SeededLane;
  readonly backfill: SeededLane;
}

/** Pages that one transaction of a backfill writes. */
const pagesAtOnce = 16;

/** User operations: the history by one walk, what is new by a poll every two minutes; one poll was lost. */
export function growOperations(
  size: SeededSize,
  chain: SeededChain,
  numbers: Numbers,
  lanes: Lanes,
): string[] {
  const { id, operations: list } = chain;
  const key = (height: string) => hashSql('operation', id, height);
  const followed = {
    list,
    rate: itemsPerPoll,
    pagesPerPoll: 2,
    overlap: 15,
    key,
    cursor: (height: string) =>
      `jsonb_build_object('page_token', ${height} || ',' || ${key(height)})`,
  };
  const historyFirst = numbers.page;
  const ledger = history(size, numbers, { ...followed, of: lanes.backfill, lost: null });
  const pollsFirst = numbers.page;
  ledger.push(
    ...follow(size, numbers, { ...followed, of: lanes.live, lost: lostPoll(list) }),
    fill({
      table: userOperations,
      chain: id,
      count: list.top,
      columns: {
        hash: key('n'),
        block_number: 'n::bigint',
        timestamp: blockTime(size, list.top, 'n'),
        status: 'true',
        address_hash: hashSql('address', id, `1 + n % ${addressesOf(chain)}`, short),
        entry_point_hash: hashSql('address', id, '1', short),
        entry_point_version: `'v0.7'::text`,
        transaction_hash: hashSql('transaction', id, 'n'),
        fee: '187125856691380::numeric(78, 0)',
      },
      stored: storedAt(size, list, followed.rate, { historyFirst, pollsFirst, pagesPerPoll: 2 }),
    }),
  );
  return ledger;
}

/** The list of batches: the same; nothing is lost. */
export function growBatchList(
  size: SeededSize,
  chain: SeededChain,
  numbers: Numbers,
  lanes: Lanes,
): string[] {
  const { id, batches: list } = chain;
  if (list === null) return [];
  const followed: Omit<Followed, 'of'> = {
    list,
    rate: batchesPerPoll,
    pagesPerPoll: 1,
    overlap: 6,
    key: (height) => `(${height})::text`,
    cursor: (height) => `jsonb_build_object('id', ${height} + 1, 'items_count', ${pageItems})`,
    lost: null,
  };
  const historyFirst = numbers.page;
  const ledger = history(size, numbers, { ...followed, of: lanes.backfill });
  const pollsFirst = numbers.page;
  ledger.push(
    ...follow(size, numbers, { ...followed, of: lanes.live }),
    fill({
      table: listedBatches,
      chain: id,
      count: list.top,
      columns: {
        batch_number: 'n::bigint',
        l1_timestamp: blockTime(size, blocksOf(chain), `n * ${blocksPerBatch}`),
        transactions_count: '700::bigint',
        l2_start_block_number: `((n - 1) * ${blocksPerBatch} + 1)::bigint`,
        l2_end_block_number: `(n * ${blocksPerBatch})::bigint`,
        batch_data_container: `'in_blob4844'::text`,
      },
      stored: storedAt(size, list, followed.rate, { historyFirst, pollsFirst, pagesPerPoll: 1 }),
    }),
  );
  return ledger;
}

interface PageNumbers {
  readonly historyFirst: number;
  readonly pollsFirst: number;
  readonly pagesPerPoll: number;
}

/** When an item was stored, and by which page: the history's, or the first of the poll that met it. */
function storedAt(
  size: SeededSize,
  list: SeededList,
  rate: number,
  { historyFirst, pollsFirst, pagesPerPoll }: PageNumbers,
) {
  const { base } = list;
  const poll = `ceil((n - ${base}) / ${rate}::numeric)::bigint`;
  const begun = beforeNow(size, `${list.polls + 1} * ${size.pollMs}::bigint`);
  const transaction = `(${base} - n) / ${pageItems * pagesAtOnce}`;
  return {
    at: `case when n > ${base} then ${pollTime(size, list).replace('- n)', `- ${poll})`)}
              else ${begun} + (${transaction}) * interval '1 second' end`,
    page: `case when n > ${base} then ${pollsFirst} + (${poll} - 1) * ${pagesPerPoll} + 1
                else ${historyFirst} + (${base} - n) / ${pageItems} + 1 end`,
  };
}

/** The addresses that the operations of a chain name. */
export const growAddresses = (size: SeededSize, chain: SeededChain): string =>
  fill({
    table: addresses,
    chain: chain.id,
    count: addressesOf(chain),
    columns: {
      hash: hashSql('address', chain.id, 'n', short),
      name: `'name ' || n`,
      is_contract: 'n % 2 = 0',
      reputation: `'ok'::text`,
    },
    stored: {
      at: `${beforeNow(size, `${chain.operations.polls + 1} * ${size.pollMs}::bigint`)} + (n / 200) * interval '1 second'`,
      page: '1 + n / 200',
    },
  });

export const lostBatchOf = ({ batches }: SeededChain) =>
  batches === null ? 0 : lostBatch(batches);
