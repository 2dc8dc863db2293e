import fc from 'fast-check';
import { expect, test } from 'vitest';
import { freshDatabase } from '../../support/database.ts';
import { addressOf, hashOf, load, loadOneByOne, stored, type ServedPage } from './loader.ts';

/** Each sequence is loaded twice, in a few milliseconds. */
const sequences = 60;

const maybe = <T>(value: fc.Arbitrary<T>) => fc.oneof(fc.constant(null), value);
const flag = maybe(fc.boolean());
const list = <T>(item: fc.Arbitrary<T>) =>
  fc.oneof(fc.constant(undefined), fc.constant(null), fc.array(item, { maxLength: 2 }));
const word = fc.constantFrom('a', 'b');
const tag = fc.record({ label: word, display_name: word });

const shown = (hash: string) =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constant(hash) },
    {
      weight: 5,
      arbitrary: fc.record(
        {
          hash: fc.constant(hash),
          name: maybe(word),
          ens_domain_name: maybe(word),
          is_contract: flag,
          is_scam: flag,
          is_verified: flag,
          proxy_type: maybe(word),
          reputation: maybe(fc.constantFrom('ok', 'scam', 'doubtful')),
          implementations: list(fc.record({ address_hash: fc.constant(addressOf(9)), name: word })),
          metadata: maybe(fc.record({ tags: list(fc.record({ slug: word })) })),
          private_tags: list(tag),
          public_tags: list(tag),
          watchlist_names: list(tag),
          invented: maybe(word),
        },
        { requiredKeys: ['hash'] },
      ),
    },
  );

/** An operation in each page; few hashes and addresses, so that they meet again. */
const pages: fc.Arbitrary<ServedPage[]> = fc
  .array(
    fc
      .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 }))
      .chain(([item, sender]) =>
        fc.record({
          hash: fc.constant(hashOf(item)),
          address: shown(addressOf(sender)),
          entry_point: shown(addressOf(3)),
        }),
      ),
    { minLength: 2, maxLength: 5 },
  )
  .map((items) => items.map((item, index) => ({ page_id: index + 1, items: [item] })));

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

test('pages in one transaction leave the same rows as one transaction for each', async () => {
  const { pool } = await freshDatabase();
  let chain = 1;
  const rowsOf = async (chain_id: number) =>
    Object.fromEntries(
      await Promise.all(
        tables.map(
          async ([table, columns]) =>
            [table, await stored(pool, table, columns, chain_id)] as const,
        ),
      ),
    );
  await fc.assert(
    fc.asyncProperty(pages, async (served) => {
      const [together, apart] = [chain, chain + 1];
      chain += 2;
      await load(pool, 'user-operations', served, together);
      await loadOneByOne(pool, 'user-operations', served, apart);
      expect(await rowsOf(together)).toEqual(await rowsOf(apart));
    }),
    { numRuns: sequences, interruptAfterTimeLimit: 20_000 },
  );
});
