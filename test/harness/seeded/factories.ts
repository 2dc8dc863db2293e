import { factories, factoryHistory } from '../../../src/lists/factories/tables.ts';
import { addresses } from '../../../src/load/tables.ts';
import { type Numbers, series } from './ledger.ts';
import type { Lanes } from './lists.ts';
import { pageItems, pollsPerRanking, type SeededChain, type SeededSize } from './size.ts';
import { fill, beforeNow, hashSql, short } from './values.ts';

/** Of so many factories one gets accounts between two rankings. */
const perChange = 20;

/** Factories by rank, with every ranking that was published. */
export function growFactories(
  size: SeededSize,
  { id, factories: { count, rankings } }: SeededChain,
  numbers: Numbers,
  { live }: Lanes,
): string[] {
  const each = Math.ceil(count / pageItems);
  const at = beforeNow(size, `(${rankings} - n) * ${size.pollMs * pollsPerRanking}::bigint`);
  const begun = beforeNow(size, `${rankings} * ${size.pollMs * pollsPerRanking}::bigint`);
  const hash = hashSql('factory', id, 'n', short);
  const accounts = `((${count} - n + 1) * 10)::bigint`;
  const token = (rank: string) =>
    `jsonb_build_object('page_token', '1,' || ${hashSql('factory', id, rank, short)})`;
  const first = numbers.walk;
  return [
    ...series(numbers, {
      of: live,
      runs: { count: rankings },
      walks: rankings,
      pages: each,
      at,
      says: [
        {
          walk: { pages: String(each), items: String(count) },
          page: {
            cursor_in: `case when s > 0 then ${token(`s * ${pageItems} + 1`)} end`,
            cursor_out: `case when s < ${each - 1} then ${token(`(s + 1) * ${pageItems} + 1`)} end`,
          },
        },
      ],
    }),
    `insert into etl.rankings (walk_id, feed, as_of, published_at, items, walks, still_moving)
     select ${first} + n, '${id}/factories', ${at}, ${at}, ${count}, 1, false
     from generate_series(1, ${rankings}) as n`,
    fill({
      table: addresses,
      chain: id,
      count,
      columns: { hash },
      stored: { at: begun, page: '1' },
    }),
    fill({
      table: factories,
      chain: id,
      count,
      columns: { address_hash: hash, total_accounts: accounts, rank: 'n::bigint' },
      stored: { at: begun, page: '1' },
    }),
    fill({
      table: factoryHistory,
      chain: id,
      count: Math.floor((count * rankings) / perChange),
      columns: {
        address_hash: hashSql('factory', id, `1 + n % ${count}`, short),
        observed_at: `${begun} + n * interval '1 second'`,
        total_accounts: '(n / 10)::bigint',
      },
      stored: { at: `${begun} + n * interval '1 second'`, page: '1' },
    }),
  ];
}
