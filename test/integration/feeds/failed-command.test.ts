import { expect, test } from 'vitest';
import { statusFaults } from '../../../simulator/index.ts';
import { configuredLanes } from '../../../src/sync/feeds.ts';
import { serveLanes } from '../../fault/serving.ts';
import { freshDatabase } from '../../harness/database.ts';
import { simulated } from '../../harness/explorer.ts';
import { eventually } from '../../harness/process.ts';
import { runSync, settingsFor, shortChain } from '../../harness/sync.ts';
import { yearly } from '../../harness/world.ts';

test('a list that a command failed to read is retried by the start beside it, however rare its schedule', async () => {
  const database = await freshDatabase();
  const { query } = database;
  let isAway = false;
  const simulator = await simulated({
    seed: 5,
    chains: [shortChain],
    faults: () => (isAway ? statusFaults['503'] : null),
  });
  const run = { url: simulator.url, chains: [shortChain], operations: ['factories'] };
  await runSync(database, run);
  await query(`update etl.lanes set next_due_at = '2999-01-01'`);
  const dueNow = 'select from etl.lanes where next_due_at < now()';
  const fail = async () => {
    isAway = true;
    const [failed] = await runSync(database, run);
    isAway = false;
    expect(failed).toMatchObject({ state: 'interrupted', failure: 'unreachable' });
  };
  await fail();
  expect(await query(dueNow)).toEqual([]);
  // One that would take the slice of the command from it would wait through the outage.
  await query(`insert into etl.workers (id, kind, host, version, seen_at)
               values (gen_random_uuid(), 'start', 'another-host', '1.0.0', now() + interval '1 hour')`);
  await fail();
  expect(await query(dueNow)).toHaveLength(1);

  const settings = settingsFor(run);
  const lanes = configuredLanes(settings.chains).map((lane) => ({ ...lane, cron: yearly }));
  await serveLanes(database, { settings, lanes });

  await eventually('the list to be read', async () => {
    const [{ state }] = await query('select state from etl.runs order by id desc limit 1');
    return state === 'finished';
  });
  const reasons = await query('select failure, reason from etl.feeds');
  expect(reasons).toEqual([{ failure: null, reason: null }]);
});

test('a command that gave a list up takes no slice of the start, while it reads others', async () => {
  const database = await freshDatabase();
  const { query } = database;
  let isRefused = false;
  let refusals = 0;
  const others = Promise.withResolvers<void>();
  const simulator = await simulated({
    seed: 5,
    chains: [shortChain],
    faults: ({ operation }) => {
      if (!isRefused || operation !== 'factories') return null;
      refusals += 1;
      return statusFaults['403'];
    },
    hold: ({ operation }) => (isRefused && operation === 'user-operations' ? others.promise : null),
  });
  const operations = ['user-operations', 'factories'];
  const run = { url: simulator.url, chains: [shortChain], operations };
  await runSync(database, run);
  await query(`update etl.lanes set next_due_at = '2999-01-01'`);
  await query(`insert into etl.workers (id, kind, host, version, seen_at)
               values (gen_random_uuid(), 'start', 'another-host', '1.0.0', now() + interval '1 hour')`);
  const due = `select feed from etl.lanes where next_due_at < now()`;
  isRefused = true;
  const syncing = runSync(database, run);
  await eventually('the list to be given up', async () => {
    const rows = await query(`select from etl.runs where state = 'interrupted'`);
    return rows.length === 1;
  });
  expect(await query(due)).toEqual([]);

  others.resolve();
  await syncing;

  expect(await query(due)).toEqual([{ feed: '10/factories' }]);
  expect(refusals).toBe(1);
});
