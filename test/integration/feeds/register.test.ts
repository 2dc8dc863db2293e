import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, test } from 'vitest';
import { registerFeeds } from '../../../src/feeds/register.ts';
import { freshDatabase } from '../../support/database.ts';

const listed = (settings: Record<string, unknown>) => [
  { chain_id: 10, chain_name: 'optimism', operation: 'user-operations' as const, settings },
];

const source = { origin: 'http://127.0.0.1', isSameData: false };

async function register(...calls: Parameters<typeof registerFeeds>[1][]) {
  const { pool } = await freshDatabase();
  const db = drizzle(pool);
  const [first, second] = calls;
  if (first !== undefined) await registerFeeds(db, first, 'file', source);
  if (second !== undefined) await registerFeeds(db, second, 'flags', source);
  const { rows } = await pool.query('select feed, settings from etl.feeds order by feed');
  return rows;
}

test('flags do not replace what a file said of a feed', async () => {
  expect(await register(listed({ since: '2026-01-01' }), listed({ since: null }))).toEqual([
    { feed: '10/user-operations', settings: { since: '2026-01-01' } },
  ]);
});

test('flags make a feed known that no file named', async () => {
  expect(await register([], listed({ since: null }))).toEqual([
    { feed: '10/user-operations', settings: { since: null } },
  ]);
});
