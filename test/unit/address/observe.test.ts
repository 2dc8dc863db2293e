import { expect, test } from 'vitest';
import { decodeItem } from '../../../src/lists/decode.ts';
import {
  type EmbeddedAddress,
  embeddedAddress,
  observeAddress,
} from '../../../src/load/address.ts';

const hash = `0x${'aB'.repeat(20)}`;

/** What an address says that is shown with these fields. */
function observed(fields: object) {
  const decoded = decodeItem(embeddedAddress, { hash, ...fields });
  if (decoded.is === 'invalid') throw new Error(decoded.reason);
  const { item, extra, unread } = decoded;
  const shown = { address: item as EmbeddedAddress, extra, unread };
  return observeAddress(shown, { chain_id: 10, page_id: 3 });
}

const listsOf = (fields: object) => observed(fields).lists;

test('implementations that are null or absent mean that there are none', () => {
  expect(listsOf({ is_verified: true }).implementations?.rows).toEqual([]);
  expect(listsOf({ name: 'a', implementations: null }).implementations?.rows).toEqual([]);
});

test('empty lists of labels and watchlist names are ignored', () => {
  const empty = { private_tags: [], public_tags: [], watchlist_names: [] };
  const { private_labels, public_labels, watchlist_names } = listsOf({ name: 'a', ...empty });
  expect([private_labels, public_labels, watchlist_names]).toEqual([null, null, null]);
});

test('private labels and watchlist names of another shape are not kept in extra', () => {
  const note = { label: 'mine', display_name: 7, note: 'n' };
  const { row } = observed({
    private_tags: [note],
    watchlist_names: note,
    owner: { hash: '0x1', private_tags: [note] },
  });
  expect(row.extra).toEqual({ owner: { hash: '0x1' } });
});

test.each(['0x12', 'abc', `0x${'g'.repeat(40)}`, ` ${hash}`, 12, {}, null])(
  '%j is not an address',
  (raw) => {
    expect(embeddedAddress.safeParse(raw).success).toBe(false);
  },
);
