import { expect, test } from 'vitest';
import { allLists, expectTrueWeek, liveWeek, reportWeek } from './week.ts';

/** Two days of the week that week.long.test.ts lives through whole. */
const options = {
  seed: 1,
  hours: 2 * 24,
  lists: allLists,
  workers: 2,
  kills: 8,
  repeat: 'npm test -- test/fault/week.test.ts',
};

test('two days of all that moves are followed exactly by two workers that are killed', async () => {
  const days = await liveWeek(options);

  await reportWeek(days, options);
  expect(days.kills).toBeGreaterThan(0);
  await expectTrueWeek(days, options);
});
