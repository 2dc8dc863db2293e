import fc from 'fast-check';
import type { Pool } from 'pg';
import { addressOf, stored } from './loader.ts';

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
  ['user_operations', 'hash, address_hash'],
  [
    'addresses',
    'hash, name, ens_domain_name, is_contract, is_scam, is_verified, proxy_type, reputation, extra',
  ],
  ['address_implementations', 'address_hash, position, implementation_hash, name'],
  ['address_metadata_tags', 'address_hash, position, slug'],
  ['address_labels', 'address_hash, kind, position, label, display_name'],
  ['address_watchlist_names', 'address_hash, position, label, display_name'],
] as const;

/** All that operations of a chain left, by table; `more` is an SQL list of further columns. */
export async function rowsOf(
  pool: Pool,
  chain_id: number,
  more = '',
): Promise<Record<string, unknown>> {
  return Object.fromEntries(
    await Promise.all(
      tables.map(
        async ([table, columns]) =>
          [table, await stored(pool, table, `${columns}${more}`, chain_id)] as const,
      ),
    ),
  );
}
