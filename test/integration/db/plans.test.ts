import { expect, test } from 'vitest';
import { urlWithSettings } from '../../../src/db/pool.ts';
import { freshDatabase } from '../../harness/database.ts';
import { grow } from '../../harness/seeded/fill.ts';
import { statementsOfStatus } from '../../harness/seeded/rounds.ts';

const size = { operations: 5_000, nowMs: Date.now(), blockMs: 60_000 };

// Every status plans its statements; a session plans those within functions once.
test('no statement of status has more than 300 nodes', async () => {
  const database = await freshDatabase();
  await grow(database.pool, size);
  // As users have them planned, not once for all values.
  const url = urlWithSettings(database.url, { plan_cache_mode: 'auto' });
  const statements = await statementsOfStatus(url);
  const sizes = statements
    .filter(({ from }) => from !== 'within a function')
    .map(({ nodes }) => nodes);
  expect(Math.max(...sizes)).toBeGreaterThan(100);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(300);
});
