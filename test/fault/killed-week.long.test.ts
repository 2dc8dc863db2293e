import { expect, test } from 'vitest';
import { requestedOf, expectTrueWeek, liveWeek, reportWeek } from './week.ts';

const kills = 30;

test('a week with two workers and 30 kills ends the same', async () => {
  const options = { ...requestedOf('a week with'), workers: 2, kills };

  const week = await liveWeek(options);

  await reportWeek(week, options);
  // A run that is done before its moment comes, as by a late killer, is not killed in.
  expect(week.kills).toBeGreaterThan(kills / 2);
  await expectTrueWeek(week, options);
});
