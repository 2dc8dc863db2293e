import { expect, test } from 'vitest';
import { grantedDatabase, userWith } from '../../support/roles.ts';
import { openLake } from './lake.ts';

const minuteMs = 60_000;

test('an analyst, whom Postgres tells of nobody else, misses nothing that was under way', async () => {
  const database = await grantedDatabase();
  await database.pool.query(
    `insert into explorer.user_operations (chain_id, hash, "timestamp", first_seen_at, updated_at, page_id)
     select 10, 'op' || n, timestamptz '2026-01-01' + n * interval '1 day', now() - interval '2 hours', now() - interval '2 hours', 1
     from generate_series(0, 1) as n`,
  );
  const analyst = await userWith(database, 'explorer_etl_analyst');
  const lake = await openLake(analyst);
  const late = await database.pool.connect();
  try {
    await late.query('begin');
    await late.query(
      `update explorer.user_operations set fee = 5, updated_at = now() where hash = 'op0'`,
    );
    const begunMs = Date.now();
    await lake.exported();
    const before = await lake.files('user_operations');
    for (const file of before) {
      expect(begunMs - Date.parse(file.as_of)).toBeGreaterThan(9 * minuteMs);
    }
    await late.query('commit');

    const outcome = (await lake.exported(['user_operations'])).get('user_operations');

    expect(outcome).toMatchObject({ written: 1, kept: 1 });
    const [first] = await lake.files('user_operations');
    expect(first).toMatchObject({ day: '2026-01-01' });
    expect(first?.sha256).not.toBe(before[0]?.sha256);
  } finally {
    late.release(true);
  }
  const { relations, ...head } = await lake.manifest();
  expect(relations.map(({ name }) => name)).not.toContain('address_watchlist_names');
  expect(head).toMatchObject({ schema: null });
});

test('a superuser is told that policies would hide rows; tables without them are exported', async () => {
  const database = await grantedDatabase();
  const lake = await openLake(database);

  const { code, stderr } = await lake.run();

  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^Left out: address_labels\. .*policies hide rows/u),
  });
  const names = (await lake.manifest()).relations.map(({ name }) => name);
  expect(names).toContain('addresses');
  expect(names).not.toContain('address_labels');
  expect((await lake.run(['address_labels'])).code).toBe(2);
});
