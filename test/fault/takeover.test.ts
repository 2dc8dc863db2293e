import { expect, test } from 'vitest';
import { measureTakeovers } from '../chaos/takeover.ts';
import { freshDatabase } from '../support/database.ts';

/** As many as half a minute allows; `npm run bench:takeover` makes 100 and 20. */
const kills = 8;
const zombies = 3;

/** The aim for a killed worker, in ms; this machine may have ten other things to do. */
const aimMs = 3_000;
const busyMs = 2 * aimMs;

test('a lane goes on in time without its worker, and one that wakes up writes nothing', async () => {
  const { url } = await freshDatabase();

  const seen = await measureTakeovers({ databaseUrl: url, kills, zombies });

  const show = (values: readonly number[]) => values.map(Math.round).join(', ');
  process.stderr.write(`takeovers: ${show(seen.killsMs)} ms; stopped: ${show(seen.stopsMs)} ms\n`);
  expect(seen.wrongWrites).toEqual([]);
  expect(seen.faults).toEqual({});
  expect(seen.zombies).toBe(zombies);
  expect(seen.killsMs.at(-1)).toBeLessThan(busyMs);
  // The server waits for three seconds more before it holds a silent session for dead.
  expect(seen.stopsMs.at(-1)).toBeLessThan(aimMs + busyMs);
});
