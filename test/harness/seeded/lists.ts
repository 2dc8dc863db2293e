import { factories, factoryHistory } from '../../../src/lists/factories/tables.ts';
import { listedBatches } from '../../../src/lists/optimism-batches/tables.ts';
import { userOperations } from '../../../src/lists/user-operations/tables.ts';
import { addresses } from '../../../src/load/tables.ts';
import { growNewestFirst, type Lanes, type Ledger } from './ledger.ts';
import {
  addressesOf,
  batchesPerPoll,
  beforeNow,
  blocksOf,
  blocksPerBatch,
  blockTime,
  hashSql,
  itemsPerPoll,
  lostPoll,
  pageItems,
  pollsPerRanking,
  type SeededChain,
  type SeededList,
  short,
} from './size.ts';

/** User operations and the addresses that they name: one poll was lost. */
export function growOperations(ledger: Ledger, chain: SeededChain, lanes: Lanes): void {
  const { id, operations: list } = chain;
  const { size } = ledger;
  const key = (height: string) => hashSql('operation', id, height);
  growNewestFirst(ledger, lanes, {
    table: userOperations,
    chain: id,
    list,
    rate: itemsPerPoll,
    pagesPerPoll: 2,
    overlap: 15,
    key,
    cursor: (height) => `jsonb_build_object('page_token', ${height} || ',' || ${key(height)})`,
    lost: lostPoll(list),
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
  });
  const begun = beforeNow(size, `${list.polls + 1} * ${size.pollMs}::bigint`);
  ledger.rows({
    table: addresses,
    chain: id,
    count: addressesOf(chain),
    columns: {
      hash: hashSql('address', id, 'n', short),
      name: `'name ' || n`,
      is_contract: 'n % 2 = 0',
      reputation: `'ok'::text`,
    },
    stored: { at: `${begun} + (n / 200) * interval '1 second'`, page: '1 + n / 200' },
  });
}

/** The list of batches: nothing is lost. */
export function growBatchList(
  ledger: Ledger,
  chain: SeededChain,
  list: SeededList,
  lanes: Lanes,
): void {
  growNewestFirst(ledger, lanes, {
    table: listedBatches,
    chain: chain.id,
    list,
    rate: batchesPerPoll,
    pagesPerPoll: 1,
    overlap: 6,
    key: (height) => `(${height})::text`,
    cursor: (height) => `jsonb_build_object('id', ${height} + 1, 'items_count', ${pageItems})`,
    columns: {
      batch_number: 'n::bigint',
      l1_timestamp: blockTime(ledger.size, blocksOf(chain), `n * ${blocksPerBatch}`),
      transactions_count: '700::bigint',
      l2_start_block_number: `((n - 1) * ${blocksPerBatch} + 1)::bigint`,
      l2_end_block_number: `(n * ${blocksPerBatch})::bigint`,
      batch_data_container: `'in_blob4844'::text`,
    },
  });
}

/** Of so many factories one gets accounts between two rankings. */
const perChange = 20;

/** Factories by rank, with every ranking that was published. */
export function growFactories(
  ledger: Ledger,
  { id, factories: { count, rankings } }: SeededChain,
  { live }: Lanes,
): void {
  const { size } = ledger;
  const pages = Math.ceil(count / pageItems);
  const at = beforeNow(size, `(${rankings} - n) * ${size.pollMs * pollsPerRanking}::bigint`);
  const begun = beforeNow(size, `${rankings} * ${size.pollMs * pollsPerRanking}::bigint`);
  const hash = hashSql('factory', id, 'n', short);
  const token = (rank: string) =>
    `jsonb_build_object('page_token', '1,' || ${hashSql('factory', id, rank, short)})`;
  const first = ledger.walk;
  const walk = { pages: String(pages), items: String(count) };
  const page = {
    cursor_in: `case when s > 0 then ${token(`s * ${pageItems} + 1`)} end`,
    cursor_out: `case when s < ${pages - 1} then ${token(`(s + 1) * ${pageItems} + 1`)} end`,
  };
  const runs = { count: rankings };
  ledger.series({ of: live, runs, walks: rankings, pages, at, says: [{ walk, page }] });
  ledger.statements.push(
    `insert into etl.rankings (walk_id, feed, as_of, published_at, items, walks, still_moving)
     select ${first} + n, '${id}/factories', ${at}, ${at}, ${count}, 1, false
     from generate_series(1, ${rankings}) as n`,
  );
  const stored = { at: begun, page: '1' };
  ledger.rows({ table: addresses, chain: id, count, columns: { hash }, stored });
  const total_accounts = `((${count} - n + 1) * 10)::bigint`;
  const ranked = { address_hash: hash, total_accounts, rank: 'n::bigint' };
  ledger.rows({ table: factories, chain: id, count, columns: ranked, stored });
  const observed_at = `${begun} + n * interval '1 second'`;
  ledger.rows({
    table: factoryHistory,
    chain: id,
    count: Math.floor((count * rankings) / perChange),
    columns: {
      address_hash: hashSql('factory', id, `1 + n % ${count}`, short),
      observed_at,
      total_accounts: '(n / 10)::bigint',
    },
    stored: { at: observed_at, page: '1' },
  });
}
