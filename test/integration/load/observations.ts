import fc from 'fast-check';
import type { Pool } from 'pg';
import { addressOf } from './loader.ts';

const maybe = <T>(value: fc.Arbitrary<T>) => fc.oneof(fc.constant(null), value);
/** What an address must not say counts as not reported. */
const bent = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.constant(7) });
const flag = bent(maybe(fc.boolean()));
const list = <T>(item: fc.Arbitrary<T>) =>
  bent(
    fc.oneof(
      fc.constant(undefined),
      fc.constant(null),
      fc.array(
        fc.oneof({ weight: 4, arbitrary: item }, { arbitrary: fc.constant(null), weight: 1 }),
        {
          maxLength: 2,
        },
      ),
    ),
  );
const word = fc.constantFrom('a', 'b');
const tag = fc.record({ label: word, display_name: word });

/** Anything that an embedded address may say. */
export const shown = (hash: string) =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constant(hash) },
    {
      weight: 5,
      arbitrary: fc.record(
        {
          hash: fc.constant(hash),
          name: bent(maybe(word)),
          ens_domain_name: maybe(word),
          is_contract: flag,
          is_scam: flag,
          is_verified: flag,
          proxy_type: bent(maybe(word)),
          reputation: maybe(fc.constantFrom('ok', 'scam', 'doubtful')),
          implementations: list(
            fc.record({ address_hash: bent(fc.constant(addressOf(9))), name: bent(word) }),
          ),
          metadata: bent(maybe(fc.record({ tags: list(fc.record({ slug: bent(word) })) }))),
          private_tags: list(tag),
          public_tags: list(tag),
          watchlist_names: list(tag),
          invented: maybe(word),
        },
        { requiredKeys: ['hash'] },
      ),
    },
  );

const tables = [
  'user_operations',
  'blocks',
  'block_rewards',
  'block_uncles',
  'block_reorgs',
  'addresses',
  'address_implementations',
  'address_metadata_tags',
  'address_labels',
  'address_watchlist_names',
] as const;
/** When rows were written: no two transactions have the same time. */
const times = ['chain_id', 'first_seen_at', 'updated_at', 'observed_at'];

/** All that pages of a chain left, by table. */
export async function rowsOf(pool: Pool, chain_id: number) {
  const rows: Record<string, unknown[]> = {};
  for (const table of tables) {
    const { rows: found } = await pool.query<{ row: unknown }>(
      `select to_jsonb(t) - $1::text[] as row from explorer.${table} as t where chain_id = $2 order by 1`,
      [times, chain_id],
    );
    rows[table] = found.map(({ row }) => row);
  }
  return rows;
}
