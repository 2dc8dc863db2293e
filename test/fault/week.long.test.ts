import { expect, test } from 'vitest';
import { allLists, expectTrueWeek, liveWeek, reportWeek, type ListName } from './week.ts';

const seed = Number(process.env['WEEK_SEED'] ?? 1);
/** Fewer hours, or some of the lists, find a fault faster. */
const hours = Number(process.env['WEEK_HOURS'] ?? 7 * 24);
const lists = (process.env['WEEK_LISTS']?.split(',') ?? allLists) as ListName[];

const kills = 30;

const optionsOf = (name: string) => ({
  seed,
  hours,
  lists,
  repeat: `WEEK_SEED=${seed} npm run test:long -- week -t "${name}"`,
});

test('a week of all that moves is followed exactly', async () => {
  const options = { ...optionsOf('a week of'), workers: 1, kills: 0 };

  const week = await liveWeek(options);

  await reportWeek(week, options);
  await expectTrueWeek(week, options);
});

test('a week with two workers and 30 kills ends the same', async () => {
  const options = { ...optionsOf('a week with'), workers: 2, kills };

  const week = await liveWeek(options);

  await reportWeek(week, options);
  // A run that is done before its moment comes, as by a late killer, is not killed in.
  expect(week.kills).toBeGreaterThan(kills / 2);
  await expectTrueWeek(week, options);
});
