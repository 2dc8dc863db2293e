import { test } from 'vitest';
import { requestedOf, expectTrueWeek, liveWeek, reportWeek } from './week.ts';

test('a week of all that moves is followed exactly', async () => {
  const options = { ...requestedOf('a week of'), workers: 1, kills: 0 };

  const week = await liveWeek(options);

  await reportWeek(week, options);
  await expectTrueWeek(week, options);
});
