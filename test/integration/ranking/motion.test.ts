import { expect, inject, test } from 'vitest';
import { rankingWorld, hourMs, minuteMs } from './world.ts';

/** Small pages, so that a walk has many borders for a row to cross. */
const pageSize = 10;
const factories = 60;
const pages = factories / pageSize;

const moved = { state: 'finished', reason: 'moved' };
const published = { state: 'finished', reason: null };

/** Each count changes about once in three pages while the clock goes on. */
const motion = { factoryChangeMs: 9 * minuteMs };
const stepMs = 3 * minuteMs;

test('a list that does not change costs one walk, and one more request for its first end', async () => {
  const world = await rankingWorld({}, 210);

  expect((await world.sync()).requests).toBe(6);
  expect(await world.stored()).toEqual(world.expected());
  expect((await world.sync()).requests).toBe(5);
  expect(await world.walks()).toEqual([published]);
});

test('a list whose rows moved during the walk is walked again, and then published', async () => {
  const world = await rankingWorld(motion, factories);
  await world.sync({ pageSize });

  const { requests } = await world.sync({ pageSize }, (request) => {
    if (request <= pages) world.clock.nowMs += stepMs;
  });

  expect(await world.walks()).toEqual([moved, published]);
  // Nothing supports the first end: some of the ranking before were not met. The second walk met all.
  expect(requests).toBe(2 * pages + 1);
  expect(await world.stored()).toEqual(world.expected());
  expect(await world.count('etl.ranking_entries')).toBe(0);
});

test('a list that always changes is published after three walks, with a note', async () => {
  const world = await rankingWorld(motion, factories);
  await world.sync({ pageSize });

  const { requests } = await world.sync({ pageSize }, () => {
    world.clock.nowMs += stepMs;
  });

  expect(await world.walks()).toEqual([moved, moved, published]);
  // Each end is requested once more, and again where one of its rows left it in between.
  expect(requests).toBe(3 * pages + 6);
  const { notes, open } = (await world.report()) ?? {};
  expect(open).toEqual([]);
  expect(notes).toEqual([
    'rows still moved in the last of 3 reads: one that moved up may be missing',
  ]);
  // All of them were listed all the time, so each is in one of the walks.
  expect((await world.stored()).filter(({ is_missing }) => is_missing)).toEqual([]);
  expect(await world.count('etl.ranking_entries')).toBe(0);

  // Once it is still, one more ranking is exact.
  await world.sync({ pageSize });

  expect(await world.stored()).toEqual(world.expected());
  expect((await world.report())?.notes).toEqual([]);
});

test.runIf(inject('isLong'))(
  'after days of added, removed and moved factories, the ranks are those of the service',
  async () => {
    const world = await rankingWorld(
      { ...motion, absentFactoriesPercent: 20, newFactoriesPercent: 20 },
      factories,
    );
    for (let hours = 0; hours <= 96; hours += 12) {
      world.clock.nowMs = hours * hourMs;
      await world.sync({ pageSize }, () => {
        world.clock.nowMs += minuteMs;
      });
    }

    await world.sync({ pageSize });

    const stored = await world.stored();
    expect(stored).toEqual(world.expected());
    expect(stored.filter(({ is_missing }) => is_missing).length).toBeGreaterThan(0);
  },
);

test('a factory that left the list costs a second walk, and no note', async () => {
  const world = await rankingWorld({ absentFactoriesPercent: 20 }, factories);
  await world.sync({ pageSize });
  // Half a day on: others are absent.
  world.clock.nowMs = 12 * hourMs;

  await world.sync({ pageSize });

  const missing = (await world.stored()).filter(({ is_missing }) => is_missing);
  expect(missing.length).toBeGreaterThan(0);
  expect(await world.walks()).toEqual([moved, published]);
  expect((await world.report())?.notes).toEqual([]);
  expect((await world.sync({ pageSize })).requests).toBe(
    Math.ceil((world.expected().length - missing.length) / pageSize),
  );
});
