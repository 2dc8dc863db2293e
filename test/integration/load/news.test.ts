import { expect, onTestFinished, test } from 'vitest';
import { freshDatabase, untilLocked } from '../../harness/database.ts';
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

/** A database, and pages of an operation that show its sender. */
async function openScene() {
  const { pool, query } = await freshDatabase();
  const show = (page_id: number, address: object) =>
    load(pool, 'user-operations', [
      { page_id, items: [{ hash: hashOf(page_id), address, entry_point: addressOf(3) }] },
    ]);
  const stored = async () =>
    (
      await query(
        `select concat(addresses.ctid, ' ', addresses.xmax) as version, addresses.name, implementation_hash as implementation
         from explorer.addresses
         left join explorer.address_implementations on address_hash = hash
         where hash = $1`,
        [sender.hash],
      )
    )[0];
  return { pool, show, stored };
}

test.each([
  ['the same once more', {}, true],
  ['another name', { name: 'Vault' }, false],
  ['another implementation', { implementations: [{ address_hash: addressOf(8) }] }, false],
  ['no implementation', { implementations: [] }, false],
  [
    'a tag more',
    { metadata: { tags: [...sender.metadata.tags, { slug: 'a', name: 'A' }] } },
    false,
  ],
  ['a label', { public_tags: [{ label: 'hot', display_name: 'Hot' }] }, false],
])('an address of which a page reports %s', async (_what, reported, isKnown) => {
  const { show, stored } = await openScene();
  await show(1, sender);
  const before = (await stored()).version;

  await show(2, { ...sender, ...reported });

  // A lock is a write as well: a page that reports nothing new takes none.
  expect((await stored()).version === before).toBe(isKnown);
});

test('the lists of an address are stored although another transaction stores it without them', async () => {
  const { pool, show, stored } = await openScene();
  const other = await pool.connect();
  onTestFinished(() => other.release(true));
  await other.query('begin');
  await other.query('insert into explorer.addresses (chain_id, hash, page_id) values (10, $1, 1)', [
    sender.hash,
  ]);

  // It looks before the other one commits, and waits for it then.
  const loading = show(2, sender);
  await untilLocked(pool);
  await other.query('commit');
  await loading;

  expect(await stored()).toMatchObject({ name: 'Wallet', implementation: addressOf(9) });
});
