import { expect, test } from 'vitest';
import type { Occasion } from '../../../src/lists/list.ts';
import { configuredLanes } from '../../../src/sync/targets.ts';
import { freshDatabase } from '../../harness/database.ts';
import { listOperations } from '../../harness/listed-operations.ts';
import { openRunner } from '../../harness/runner.ts';
import { listedChain, runSync, settingsFor } from '../../harness/sync.ts';

const startMs = Date.UTC(2026, 0, 2);
const blocks = 500;
/** Pages of ten, of which the first sync reads two. */
const pages = blocks / 10;

/** A list of which the newest blocks are covered, and all below is a gap. */
async function world() {
  const operations = Array.from({ length: blocks }, (_, index) => ({
    block: index + 1,
    id: index + 1,
  }));
  const list = await listOperations(operations);
  const database = await freshDatabase();
  const run = {
    url: list.url,
    chains: [listedChain],
    operations: ['user-operations'],
    pageSize: 10,
  };
  await runSync(database, { ...run, maxPages: 2, at: new Date(startMs) });
  list.takeRequests();
  const settings = settingsFor(run);
  const runner = await openRunner(database, settings);
  const history = configuredLanes(settings.chains).filter(({ lane }) => lane.lane === 'backfill');
  /** What the backfill lane asks for when it is looked at, a minute after the start. */
  const poll = async (minute: number, occasion: Occasion = 'schedule') => {
    await runner.run(history, new Date(startMs + minute * 60_000), occasion);
    return list.takeRequests();
  };
  const gaps = async () => (await database.pool.query('select from explorer.gaps')).rowCount;
  return { list, poll, gaps };
}

test('a gap that stays because pages break the order is read again in growing intervals, a sync at once', async () => {
  const { list, poll, gaps } = await world();
  list.isDisordered = true;
  expect(await poll(0)).toBeGreaterThanOrEqual(pages - 2);

  const read: number[] = [];
  for (let minute = 5; minute <= 200; minute += 5) {
    if ((await poll(minute)) > 0) read.push(minute);
  }

  expect(read).toEqual([10, 20, 40, 80, 160]);
  expect(await gaps()).toBe(1);
  list.isDisordered = false;
  expect(await poll(165)).toBe(0);
  expect(await poll(165, 'sync')).toBeGreaterThanOrEqual(pages - 2);
  expect(await gaps()).toBe(0);
});
