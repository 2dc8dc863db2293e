import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually } from '../harness/process.ts';
import { listed, openDeployments } from '../integration/feeds/scene.ts';

/** Two rounds of sums, or three: one minute has one round or two. */
const seconds = 120;
/** Transactions a second. */
const most = 3;
/** In ms: Postgres counts what a session did up to ten seconds after it fell idle. */
const countedMs = 12_000;
/** Two lists of each: 32 feeds. */
const ids = Array.from({ length: 16 }, (_, index) => index + 1);

test('an idle start with 32 feeds takes at most 3 transactions a second on at most 12 connections, and logs nothing', async () => {
  const { database, deploy } = await openDeployments({ ids });
  const lists = listed(['user-operations', 'factories']);
  const { run, start } = await deploy(
    'idle',
    Object.fromEntries(ids.map((id) => [id, lists] as const)),
  );
  expect((await run('sync')).code).toBe(0);
  const process = start();
  await eventually('it to work', async () => process.output.includes('"start.ready"'));
  const name = [new URL(database.url).pathname.slice(1)];
  const transactions = async () => {
    const [row] = await database.query(
      'select xact_commit + xact_rollback as count from pg_stat_database where datname = $1',
      name,
    );
    return Number(row?.['count']);
  };
  const rateWithin = async (ms: number) => {
    const [before, begun] = [await transactions(), performance.now()];
    await delay(ms);
    return ((await transactions()) - before) / ((performance.now() - begun) / 1_000);
  };
  await eventually('its first sums', async () => {
    const left = `
      select from etl.rollups where read_to < (select min(started_at) from etl.workers)
      union all select from etl.stale_sums
    `;
    return (await database.query(left)).length === 0;
  });

  // Else autovacuum, whose transactions count too, reads what the sync wrote within these minutes.
  await database.query('vacuum analyze');
  // Where the machine is busy, what a start does once takes longer.
  await eventually('it to rest', async () => (await rateWithin(countedMs)) <= most);
  const logged = process.output;
  const rate = await rateWithin(1_000 * seconds);
  const sessions = await database.query(
    "select from pg_stat_activity where datname = $1 and application_name like 'explorer-etl%'",
    name,
  );

  globalThis.process.stderr.write(
    `idle: ${rate} transactions a second, ${sessions.length} sessions\n`,
  );
  expect(rate).toBeLessThanOrEqual(most);
  expect(sessions.length).toBeLessThanOrEqual(12);
  expect(process.output).toBe(logged);
});
