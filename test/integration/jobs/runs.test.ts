import { expect, onTestFinished, test } from 'vitest';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { configuredLanes } from '../../../src/sync/feeds.ts';
import { serve } from '../../../src/sync/serve.ts';
import { runQueue } from '../../../src/sync/workers.ts';
import { freshDatabase } from '../../harness/database.ts';
import { simulated } from '../../harness/explorer.ts';
import { eventually } from '../../harness/process.ts';
import { openContender } from '../../harness/runner.ts';
import { plainChain, settingsFor } from '../../harness/sync.ts';

/**
 * So many, that were a run left to the 30 s at which a notified queue is looked at by itself, in each
 * of them, the test would meet its limit; each takes a fraction of a second.
 */
const rounds = 8;

const chain = (id: number): SimulatedChain => ({
  ...plainChain,
  id,
  name: `chain-${id}`,
  factories: 20,
});

/** A worker that serves, without any schedule of its own, and what sends runs as schedules do. */
async function openScene(chains: readonly SimulatedChain[]) {
  const simulator = await simulated({ seed: 1, chains });
  const database = await freshDatabase();
  const run = { url: simulator.url, chains, operations: ['factories'] };
  const engine = await openContender(database, run);
  const lanes = configuredLanes(settingsFor(run).chains);
  const stop = new AbortController();
  const begin = () => {
    const serving = serve([], engine, stop.signal);
    onTestFinished(async () => {
      stop.abort();
      await serving;
    });
  };
  const send = async () => {
    for (const { lane, scope } of lanes) {
      await engine.boss.send(runQueue, { lane, scope }, { singletonKey: String(lane.chain_id) });
    }
  };
  const untilFinished = (count: number) =>
    eventually(`${count} runs to be finished`, async () => {
      const rows = await database.query("select from etl.runs where state = 'finished'");
      return rows.length === count;
    });
  return { engine, begin, send, untilFinished };
}

test('runs that are requested together are all started at once', async () => {
  const { begin, send, untilFinished } = await openScene([1, 2, 3, 4, 5, 6].map(chain));
  begin();
  let finished = 0;
  for (let round = 0; round < rounds; round += 1) {
    await send();
    await untilFinished((finished += 6));
  }

  expect(finished).toBe(6 * rounds);
});

test('another worker continues a run whose worker was killed', async () => {
  const { engine, begin, send, untilFinished } = await openScene([chain(1)]);
  await send();
  const [lost] = await engine.boss.fetch(runQueue);
  expect(lost).toBeDefined();

  begin();

  await expect(untilFinished(1)).resolves.toBe(true);
});
