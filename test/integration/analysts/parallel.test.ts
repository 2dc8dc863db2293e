import { expect, test } from 'vitest';
import { openCopied, shortChain } from '../../harness/sync.ts';

// On one server: Citus distributes in its own way.
test('Postgres may read operations with parallel workers', async () => {
  const { pool } = await openCopied(shortChain, { run: { operations: ['user-operations'] } });
  const session = await pool.connect();
  await session.query(`
    set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0;
    set max_parallel_workers_per_gather = 2`);
  const { rows } = await session.query(
    'explain select sender_kind, count(*) from explorer.operations_enriched group by sender_kind',
  );
  session.release(true);
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('Gather');
});
