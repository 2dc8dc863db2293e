import { drizzle } from 'drizzle-orm/node-postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { panels } from '../../../src/http/panels.ts';
import { awayStatus, emptyStatus, unreadableStatus } from '../../../src/report/status-document.ts';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { copiedChains, servedPanel } from '../../harness/panels.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await copiedChains();
});
afterAll(() => database?.drop());

test.each(
  ['coverage', 'freshness', 'credits'].flatMap((panel) =>
    [awayStatus, unreadableStatus].map((described) => [panel, described.name, described] as const),
  ),
)('%s is not told as nothing where nobody knows: %s', async (panel, _name, described) => {
  const told = described(new Date(), 'it took too long');
  const shown = await servedPanel(panel, {}, { from: drizzle(database.pool), told });
  expect(shown).toContain('Not known now');
});

test.each(panels.map(({ id }) => id))('%s of a database without tables is no error', async (id) => {
  const { pool } = await freshDatabase('empty');
  const shown = await servedPanel(
    id,
    { 'why-what': '5', 'explore-question': 'failures-daily' },
    { from: drizzle(pool), told: emptyStatus(new Date(), null) },
  );
  expect(shown).not.toMatch(/42P01|3F000|can't be shown/);
});
