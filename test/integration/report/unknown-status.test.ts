import { drizzle } from 'drizzle-orm/node-postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { awayStatus, unreadableStatus } from '../../../src/report/status-document.ts';
import type { TestDatabase } from '../../support/database.ts';
import { copiedChains, servedPanel } from '../../support/panels.ts';

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
