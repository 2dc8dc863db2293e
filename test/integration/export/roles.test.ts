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
