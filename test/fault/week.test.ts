import { expect, test } from 'vitest';
import { allLists, eventsOf, expectTrueWeek, liveWeek, type ListName, type Week } from './week.ts';

const seed = Number(process.env['WEEK_SEED'] ?? 1);
/** Fewer hours, or some of the lists, find a fault faster. */
const hours = Number(process.env['WEEK_HOURS'] ?? 7 * 24);
const lists = (process.env['WEEK_LISTS']?.split(',') ?? allLists) as ListName[];

/** A week takes a minute, with its kills two, and on a busy machine four times that, in ms. */
const testBoundMs = 600_000;
const kills = 30;

const optionsOf = (name: string) => ({
  seed,
  hours,
  lists,
  repeat: `WEEK_SEED=${seed} npx vitest run test/fault/week.test.ts -t "${name}"`,
});

test('a week of all that moves is followed exactly', { timeout: testBoundMs }, async () => {
  const options = { ...optionsOf('a week of'), workers: 1, kills: 0 };

  const week = await liveWeek(options);

  await report(week);
  await expectTrueWeek(week, options);
});

test('a week with two workers and 30 kills ends the same', { timeout: testBoundMs }, async () => {
  const options = { ...optionsOf('a week with'), workers: 2, kills };

  const week = await liveWeek(options);

  await report(week);
  expect(week.kills).toBe(kills);
  await expectTrueWeek(week, options);
});

async function report(week: Week) {
  const { ticksMs, world } = week;
  const at = (part: number) => Math.round(ticksMs[Math.floor((ticksMs.length - 1) * part)] ?? 0);
  const facts = { requests: world.simulator.counts, ...(await eventsOf(week)) };
  process.stderr.write(
    `week of seed ${seed}: ${ticksMs.length} ticks of ${at(0.5)} ms (median), ${at(0.9)} (p90), ${at(1)} (max); ${week.kills} kills; ${JSON.stringify(facts)}\n`,
  );
}
