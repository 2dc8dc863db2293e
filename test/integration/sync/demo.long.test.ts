import { expect, test } from 'vitest';
import { demoStart } from '../../../simulator/demo.ts';
import { call } from '../../harness/process.ts';
import { freshDatabase } from '../../harness/database.ts';

const dayMs = 86_400_000;

test('a demo continues with the simulated chains of an earlier one, and its report is correct', async () => {
  const { url, query } = await freshDatabase();
  const env = { DATABASE_URL: url };
  const startMs = demoStart(Date.now()) - 3 * dayMs;
  const day = new Date(startMs).toISOString().slice(0, 10);
  await query(
    `insert into etl.feeds (chain_id, operation, kind, unit, settings, origin)
     values (10, 'factories', 'ranked', 'blocks', '{}', $1)`,
    [`simulated explorer of demo, seed 1, from ${day}`],
  );

  const first = await call(['demo'], { env });
  expect(first).toMatchObject({ code: 0 });
  const oldest = 'select min(timestamp) as at, count(*) from explorer.user_operations';
  const before = await query(oldest);
  expect(before[0]?.at.toISOString().slice(0, 10)).toBe(day);

  const second = await call(['demo', '--json'], { env });
  expect(second).toMatchObject({ code: 0 });
  // Of what is new a page at most is left to read: its worker is killed before that is stored.
  expect(JSON.parse(second.stdout).kill).toMatchObject({
    feed: '10/user-operations',
    killed_at_page: 0,
    resumed_at_page: 1,
  });
  const after = await query(oldest);
  expect(after[0]?.at).toEqual(before[0]?.at);
  expect(Number(after[0]?.count)).toBeGreaterThanOrEqual(Number(before[0]?.count));
  const origins = await query('select distinct right(origin, 10) as day from etl.feeds');
  expect(origins).toEqual([{ day }]);
  expect(await call(['verify'], { env })).toMatchObject({ code: 0 });
});
