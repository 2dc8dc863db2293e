import { expect, onTestFinished, test } from 'vitest';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { signals } from '../../../src/signals.ts';
import { configuredLanes } from '../../../src/sync/feeds.ts';
import { scheduleLanes } from '../../../src/sync/lanes.ts';
import { serve } from '../../../src/sync/serve.ts';
import { freshDatabase } from '../../harness/database.ts';
import { simulated } from '../../harness/explorer.ts';
import { eventually } from '../../harness/process.ts';
import { openContender } from '../../harness/runner.ts';
import { makeDue, yearly } from '../../harness/world.ts';
import { plainChain, settingsFor } from '../../harness/sync.ts';

const rounds = 3;

const chain = (id: number): SimulatedChain => ({
  ...plainChain,
  id,
  name: `chain-${id}`,
  factories: 20,
});

/** A worker that serves, without any schedule of its own, and what sends runs as schedules do. */
async function openScene(chains: readonly SimulatedChain[], concurrency?: number) {
  const simulator = await simulated({ seed: 1, chains });
  const database = await freshDatabase();
  const run = { url: simulator.url, chains, operations: ['factories'] };
  const engine = await openContender(database, run);
  const lanes = configuredLanes(settingsFor(run).chains).map((lane) => ({ ...lane, cron: yearly }));
  const stop = new AbortController();
  const begin = () => {
    const limit = concurrency === undefined ? {} : { concurrency };
    const serving = serve([], { ...engine, ...limit }, stop.signal);
    onTestFinished(async () => {
      stop.abort();
      await serving;
    });
  };
  await scheduleLanes(engine.db, lanes, null);
  const send = () => makeDue(database.pool, lanes);
  const finished = async () =>
    (await database.query("select from etl.runs where state = 'finished'")).length;
  const untilFinished = (count: number) =>
    eventually(`${count} runs to be finished`, async () => (await finished()) === count);
  return { ...database, begin, send, finished, untilFinished };
}

test('lanes that are due together are all read', async () => {
  const { begin, send, untilFinished } = await openScene([1, 2, 3, 4, 5, 6].map(chain));
  begin();
  let finished = 0;
  for (let round = 0; round < rounds; round += 1) {
    await send();
    await untilFinished((finished += 6));
  }

  expect(finished).toBe(6 * rounds);
});

test('a process works on no more lanes at once than it may', async () => {
  const { begin, send, finished, query } = await openScene([1, 2, 3, 4, 5, 6].map(chain), 2);
  await query(`
    create table public.at_work (lanes bigint);
    create function public.count_lanes() returns trigger language plpgsql as $$ begin
      insert into public.at_work select count(*) from etl.lanes where worker is not null;
      return null;
    end $$;
    create trigger counts_lanes after update of worker on etl.lanes
    for each statement execute function public.count_lanes()`);
  await send();
  begin();
  await eventually('all lanes to be read, with ever new signals of the queue', async () => {
    signals.emit('queued');
    return (await finished()) === 6;
  });

  expect((await query('select max(lanes)::int as most from public.at_work'))[0].most).toBeLessThan(
    3,
  );
});
