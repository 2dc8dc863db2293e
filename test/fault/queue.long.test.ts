import { expect, test } from 'vitest';
import { eventually } from '../harness/process.ts';
import { listed, openDeployments } from '../integration/feeds/scene.ts';

const userOperations = 5_000;

test('a start whose queue is dropped while it reads makes it again, and continues to the same rows', async () => {
  const { database, deploy } = await openDeployments({ latencyMs: 300, userOperations });
  const { start } = await deploy('production', { 10: listed(['user-operations']) });
  const process = start();
  await eventually('it to work', async () => process.output.includes('"start.ready"'));
  const count = async (from: string) => (await database.query(`select from ${from}`)).length;
  await eventually('pages', async () => (await count('etl.pages')) > 3);

  await database.query('drop schema pgboss cascade');
  const closed = "etl.runs where lane = 'backfill' and state <> 'open'";
  await eventually('the end of its history', async () => (await count(closed)) > 0);

  expect(process.output).toContain('"database.away"');
  expect(await database.query('select state, failure from etl.runs')).toEqual([
    { state: 'finished', failure: null },
  ]);
  expect(await count('explorer.user_operations')).toBe(userOperations);
  const twice = 'etl.pages group by walk_id, cursor_in having count(*) > 1';
  expect(await count(twice)).toBe(0);
});
