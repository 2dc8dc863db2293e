import { expect, test } from 'vitest';
import { runChaos } from '../harness/chaos.ts';
import { freshDatabase } from '../harness/database.ts';

/** Seeds that have found a fault once, and what they found. */
const seeds = {
  1: 'an item that was cut for its depth became a row when it was tried again',
};

/** A few blows; `npm run bench chaos` goes on for as long as it is told. */
const lengthMs = 12_000;
const workers = 2;

test.each(Object.keys(seeds).map(Number))(
  'nothing is lost in the chaos of seed %i',
  async (seed) => {
    const { url } = await freshDatabase();

    const { faults, ...seen } = await runChaos({
      databaseUrl: url,
      seed,
      lengthMs,
      workers,
      restartServer: null,
    });

    process.stderr.write(`chaos of seed ${seed}: ${JSON.stringify(seen)}\n`);
    const repeat = `npm run bench chaos -- --minutes ${lengthMs / 60_000} --seed ${seed} --workers ${workers}`;
    expect(faults, `repeat with: ${repeat}`).toEqual({});
  },
);
