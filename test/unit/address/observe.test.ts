import { expect, test } from 'vitest';
import { decodeItem } from '../../../src/lists/decode.ts';
import {
  type AddressObservation,
  type EmbeddedAddress,
  embeddedAddress,
  observeAddress,
} from '../../../src/load/address.ts';

const hash = `0x${'aB'.repeat(20)}`;
const other = `0x${'Cd'.repeat(20)}`;

function observe(raw: unknown): AddressObservation {
  const decoded = decodeItem(embeddedAddress, raw);
  if (decoded.is === 'invalid') throw new Error(decoded.reason);
  const { item, extra, unread } = decoded;
  const shown = { address: item as EmbeddedAddress, extra, unread };
  return observeAddress(shown, { chain_id: 10, page_id: 3 });
}

test('a bare hash is an address in lower case of which nothing is known', () => {
  const { row, lists } = observe(hash);
  expect(row).toEqual({
    chain_id: 10,
    hash: hash.toLowerCase(),
    name: null,
    ens_domain_name: null,
    is_contract: null,
    is_scam: null,
    is_verified: null,
    proxy_type: null,
    reputation: null,
    extra: null,
  });
  expect(Object.values(lists)).toEqual([null, null, null, null, null]);
});

test.each([
  ['older', { address: other, name: 'Logic' }],
  ['newer', { address_hash: other, name: 'Logic' }],
])('implementations have the same row in the %s shape', (_, implementation) => {
  const { lists } = observe({ hash, is_verified: true, implementations: [implementation] });
  expect(lists.implementations).toEqual([
    { position: 0, implementation_hash: other.toLowerCase(), name: 'Logic' },
  ]);
});

test('implementations that are null or absent mean that there are none', () => {
  expect(observe({ hash, is_verified: true }).lists.implementations).toEqual([]);
  expect(observe({ hash, name: 'a', implementations: null }).lists.implementations).toEqual([]);
});

test('a metadata tag keeps its free-form meta and its place', () => {
  const meta = { tooltip: { deep: [1, null] } };
  const tags = [{ slug: 'a', name: 'A', tagType: 'protocol', ordinal: 7, meta }, { slug: 'b' }];
  expect(observe({ hash, metadata: { tags } }).lists.metadata_tags).toEqual([
    { position: 0, slug: 'a', name: 'A', tag_type: 'protocol', ordinal: 7, meta },
    { position: 1, slug: 'b', name: null, tag_type: null, ordinal: null, meta: null },
  ]);
});

test.each(['private_tags', 'public_tags', 'watchlist_names'])(
  'an empty list of %s says nothing',
  (field) => {
    const { lists } = observe({ hash, is_verified: true, [field]: [] });
    const { private_labels, public_labels, watchlist_names } = lists;
    expect([private_labels, public_labels, watchlist_names]).toEqual([null, null, null]);
  },
);

test('fields that the contract does not name are kept as they are', () => {
  const raw = { hash, is_verified: true, creator: { hash: other }, __proto__: null };
  expect(observe(raw).row.extra).toEqual({ creator: { hash: other } });
});

test.each(['0x12', 'abc', `0x${'g'.repeat(40)}`, ` ${hash}`, 12, {}, null])(
  '%j is no address',
  (raw) => {
    expect(embeddedAddress.safeParse(raw).success).toBe(false);
  },
);
