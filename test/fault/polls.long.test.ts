import { expect, test } from 'vitest';
import { type SimulatedChain, startInstantMs } from '../../simulator/index.ts';
import { creditsPerRequest } from '../../src/explorer/budget.ts';
import { planFeeds } from '../../src/status/plan.ts';
import { freshDatabase } from '../harness/database.ts';
import { simulated } from '../harness/explorer.ts';
import { openRunner } from '../harness/runner.ts';
import { plainChain, settingsFor } from '../harness/sync.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Polls before the plan, and how much of a day is spent after it. */
const warmUpMs = 4 * hourMs;
const spentMs = 12 * hourMs;

/** Every how many minutes each list is polled. */
const everyMinutes = {
  'user-operations': 5,
  bundles: 5,
  'optimism-batches': 10,
  'optimism-batch-blocks': 10,
  factories: 60,
} as const;
type ListName = keyof typeof everyMinutes;
const lists = Object.keys(everyMinutes) as ListName[];

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 300,
  batches: { first: 1, count: 6, blocks: 150 },
  factories: 120,
  motion: { operationsPerMinute: 3, blockSeconds: 24, latePercent: 1 },
};

const cronOf = (minutes: number) => (minutes < 60 ? `*/${minutes} * * * *` : '0 * * * *');

test('plan predicts within a tenth what a moving world spends on polls, for each kind of list', async () => {
  let nowMs = 0;
  const simulator = await simulated({ seed: 4, chains: [chain], clock: () => nowMs });
  const database = await freshDatabase();
  const run = { url: simulator.url, chains: [chain], operations: lists };
  const runner = await openRunner(database, run);
  const live = async (fromMs: number, toMs: number) => {
    for (nowMs = fromMs; nowMs < toMs; nowMs += 5 * minuteMs) {
      const isDue = ({ lane: { operation } }: (typeof runner.lanes)[number]) =>
        nowMs % (everyMinutes[operation as ListName] * minuteMs) === 0;
      await runner.run(runner.lanes.filter(isDue), new Date(startInstantMs + nowMs), 'schedule');
    }
  };
  const spent = async () => {
    const rows = await database.query(
      'select operation, sum(credits)::int as credits from etl.walks group by operation',
    );
    return new Map(rows.map(({ operation, credits }) => [operation, Number(credits)]));
  };
  await live(0, warmUpMs);

  const settings = settingsFor(run);
  const scheduled = settings.chains.map((one) => ({
    ...one,
    operations: Object.fromEntries(
      Object.entries(one.operations).map(([name, own]) => [
        name,
        { ...own, schedule: cronOf(everyMinutes[name as ListName]) },
      ]),
    ),
  }));
  const at = new Date(startInstantMs + nowMs);
  const { pageSize } = settings.explorer;
  const feeds = await planFeeds(database.db, { ...settings, chains: scheduled }, { pageSize, at });
  const before = await spent();
  await live(warmUpMs, warmUpMs + spentMs);
  const after = await spent();

  const found = feeds.map(({ operation, upkeep }) => {
    const requests =
      ((after.get(operation) ?? 0) - (before.get(operation) ?? 0)) / creditsPerRequest;
    const predicted = ((upkeep.likely ?? upkeep.least) * spentMs) / (24 * hourMs);
    return { operation, predicted, requests, ratio: predicted / requests };
  });
  expect(found.filter(({ ratio }) => ratio < 0.9 || ratio > 1.1)).toEqual([]);
  expect(found.map(({ operation }) => operation).toSorted()).toEqual(lists.toSorted());
});
