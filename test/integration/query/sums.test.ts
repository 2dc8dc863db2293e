import { expect, test } from 'vitest';
import { readSums } from '../../../src/query/sums.ts';
import { sharedDatabase } from '../../harness/database.ts';

const database = sharedDatabase();

test.each([
  ['select from explorer.chains, operations_daily', true],
  ['select from freshness as f, only senders where true', true],
  ['select from (select 1, 2) as x (a, b), "operations_daily" order by 1', true],
  ['select from chains c join blocks on true, batch_stats', true],
  ['with x as (select from chains, fees_daily limit 1) select from x', true],
  ['select extract(day from now()), max(1) from chains, senders, blocks', true],
  ['select chain_id, senders from (values (1, 2)) as explored (chain_id, senders)', false],
  ['select 1 is distinct from 2, senders from (values (1)) as explored (senders)', false],
  ['select 1 from chains, blocks where 1 in (1, 2) order by chain_id, senders', false],
  ['select 1 from public.senders, (select 1) as senders', false],
])('finds the sums that are read by: %s', async (statement, isFound) => {
  const bounds = { timeoutMs: 60_000, signal: new AbortController().signal };
  const sums = await readSums(database.pool, statement, bounds);
  expect(sums !== null).toBe(isFound);
});
