import { expect, test, vi } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { hangMs } from '../../harness/hang.ts';
import { addressOf, hashOf, load } from './loader.ts';

/** The address of the first operation, as its newest page shows it. */
const sender = {
  hash: addressOf(1),
  name: 'Wallet',
  is_contract: true,
  is_verified: true,
  implementations: [{ address_hash: addressOf(9), name: 'Safe' }],
  metadata: { tags: [{ slug: 'safe', name: 'Safe', tagType: 'protocol', ordinal: 0 }] },
};

const page = (page_id: number, address: object) => ({
  page_id,
  items: [{ hash: hashOf(page_id), address, entry_point: addressOf(3) }],
});

test.each([
  ['the same once more', {}, true],
  ['another name', { name: 'Vault' }, false],
  [
    'another implementation',
    { implementations: [{ address_hash: addressOf(8), name: 'Safe' }] },
    false,
  ],
  ['no implementation', { implementations: [] }, false],
  [
    'a tag more',
    { metadata: { tags: [...sender.metadata.tags, { slug: 'a', name: 'A' }] } },
    false,
  ],
  ['a label', { public_tags: [{ label: 'hot', display_name: 'Hot' }] }, false],
])('an address of which a page tells %s', async (_what, news, isKnown) => {
  const { pool } = await freshDatabase();
  const version = async () => {
    const { rows } = await pool.query<{ version: string }>(
      `select concat(ctid, ' ', xmax) as version from explorer.addresses where hash = $1`,
      [addressOf(1)],
    );
    return rows[0]?.version;
  };
  await load(pool, 'user-operations', [page(1, sender)]);
  const before = await version();
  await load(pool, 'user-operations', [page(2, { ...sender, ...news })]);
  // A lock is a write as well: who tells nothing new takes none.
  expect((await version()) === before).toBe(isKnown);
});

test('the lists of an address are stored though another one stores it meanwhile without them', async () => {
  const { pool } = await freshDatabase();
  const other = await pool.connect();
  await other.query('begin');
  await other.query('insert into explorer.addresses (chain_id, hash, page_id) values (10, $1, 1)', [
    addressOf(1),
  ]);

  // It looks before the other one commits, and waits for it then.
  const loading = load(pool, 'user-operations', [page(2, sender)]);
  await vi.waitFor(
    async () => {
      const { rows } = await pool.query('select from pg_locks where not granted');
      expect(rows).not.toEqual([]);
    },
    { timeout: hangMs },
  );
  await other.query('commit');
  other.release();
  await loading;

  const { rows } = await pool.query(
    'select implementation_hash from explorer.address_implementations where address_hash = $1',
    [addressOf(1)],
  );
  expect(rows).toEqual([{ implementation_hash: addressOf(9) }]);
});
