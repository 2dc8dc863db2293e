import { expect, test } from 'vitest';
import { runChaos } from './chaos.ts';
import { freshDatabase } from '../harness/database.ts';
import { ownServer } from '../harness/initialized.ts';

/** Seeds that have found a fault once, and what they found. */
const seeds = {
  1: 'an item that was cut for its depth became a row when it was tried again; a start did not stop while its watch for a newer schema got no answer',
};

/** A few faults, unless the environment wants more; then the server is killed too, as it is the test's own. */
const {
  CHAOS_MINUTES: minutes = '0.2',
  CHAOS_SEED: seed,
  CHAOS_WORKERS: workers = '2',
} = process.env;
const lengthMs = Number(minutes) * 60_000;
const isShort = process.env['CHAOS_MINUTES'] === undefined;

test.each(seed === undefined ? Object.keys(seeds).map(Number) : [Number(seed)])(
  'nothing is lost in the chaos of seed %i',
  { timeout: lengthMs + 3_600_000 },
  async (drawn) => {
    const server = isShort ? null : await ownServer({});

    const { faults, ...seen } = await runChaos({
      databaseUrl: (server ?? (await freshDatabase())).url,
      seed: drawn,
      lengthMs,
      workers: Number(workers),
      restartServer: server === null ? null : () => server.crash().then(() => undefined),
    });

    process.stderr.write(`chaos of seed ${drawn}: ${JSON.stringify(seen)}\n`);
    const repeat = `CHAOS_MINUTES=${minutes} CHAOS_SEED=${drawn} CHAOS_WORKERS=${workers} npm run test:long -- chaos`;
    expect(faults, `repeat with: ${repeat}`).toEqual({});
  },
);
