import { expect, test } from 'vitest';
import { measureTakeovers } from '../chaos/takeover.ts';
import { freshDatabase } from '../harness/database.ts';

/** As many as half a minute allows. */
const kills = 8;
const zombies = 3;

test('a lane goes on in time without its worker, and one that wakes up writes nothing', async () => {
  const { url } = await freshDatabase();

  const seen = await measureTakeovers({ databaseUrl: url, kills, zombies });

  const show = (values: readonly number[]) => values.map(Math.round).join(', ');
  process.stderr.write(`takeovers: ${show(seen.killsMs)} ms; stopped: ${show(seen.stopsMs)} ms\n`);
  expect(seen.wrongWrites).toEqual([]);
  expect(seen.faults).toEqual({});
  expect({ kills: seen.killsMs.length, stops: seen.stopsMs.length }).toEqual({
    kills,
    stops: zombies,
  });
});
