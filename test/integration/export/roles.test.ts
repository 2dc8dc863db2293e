import { expect, test } from 'vitest';
import { grantedDatabase, userWith } from '../../harness/database.ts';
import { openLake } from './lake.ts';

test('an analyst exports the tables that they may read', async () => {
  const database = await grantedDatabase();
  const analyst = await userWith(database, 'explorer_etl_analyst');
  const lake = await openLake(analyst);

  const names = [...(await lake.exported()).keys()];

  expect(names).toContain('user_operations');
  expect(names).not.toContain('address_watchlist_names');
});

// Aurora refuses pg_control_checkpoint (55000), unless its WAL is logical.
test('a server that does not say which one it is exports, and again what changed', async () => {
  const database = await grantedDatabase();
  await database.query(
    'revoke execute on function pg_control_checkpoint, pg_control_system, pg_walfile_name from public',
  );
  const lake = await openLake(await userWith(database, 'explorer_etl_analyst'));

  await lake.exported(['chains']);

  expect((await lake.exported(['user_operations', '--changed'])).size).toBe(1);
});

test('for a superuser, a table whose policies would hide rows is refused, and others are exported', async () => {
  const database = await grantedDatabase();
  const lake = await openLake(database);

  const { code, stdout, stderr } = await lake.run();

  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^Left out: address_labels\. Policies hide rows/u),
  });
  const { relations } = JSON.parse(stdout) as { readonly relations: readonly { name: string }[] };
  const names = relations.map(({ name }) => name);
  expect(names).toContain('addresses');
  expect(names).not.toContain('address_labels');
  expect((await lake.run(['address_labels', '--overwrite'])).code).toBe(2);
  // What failed has left the folder as it was, and nothing else.
  expect(await lake.left()).toEqual([]);
});
