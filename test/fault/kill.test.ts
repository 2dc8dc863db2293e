import { afterAll, expect, test } from 'vitest';
import { seededRandom } from '../chaos/random.ts';
import { ledgerFaults } from '../support/ledger.ts';
import { eventually, startProgram, type Program } from '../support/process.ts';
import { differences } from '../support/tables.ts';
import { drawMoment, killAt, type Scene } from './moment.ts';
import { openWorld, type FaultWorld } from './world.ts';

/** Each seed kills `sync` and `start` this often: 50 in all with the standard seeds. */
const killsOfSync = 13;
const killsOfStart = 12;
const standardSeeds = [1, 5];

const chosen = process.env['KILL_SEED'];
const seeds = chosen === undefined ? standardSeeds : [Number(chosen)];

/** A run without a kill takes 3 s; the bound leaves room for a takeover and a slow machine. */
const endBoundMs = 60_000;

/** Thirteen starts of up to 7 s on a machine with ten things to do, and as much again. */
const testBoundMs = 240_000;

let kills = 0;
afterAll(() => void process.stderr.write(`kills: ${kills}, seeds: ${seeds.join(', ')}\n`));

const open = (seed: number, command: string, latencyMs: number) =>
  openWorld(seed, {
    latencyMs,
    repeat: `KILL_SEED=${seed} npx vitest run test/fault/kill.test.ts -t "${command}"`,
  });

test.each(seeds)(
  'a sync that is killed again and again copies all (seed %i)',
  { timeout: testBoundMs },
  async (seed) => {
    const world = await open(seed, 'a sync', 15);
    const random = seededRandom(seed);
    for (let killed = 0; killed < killsOfSync; killed += 1) {
      const program = startProgram(['sync', '--quiet'], world.environment);
      const scene = { ...sceneOf(world), isOver: async () => !program.isRunning };
      await killAt(drawMoment(random), scene, [program]);
      const { signal } = await program.ended(endBoundMs);
      expect(signal, program.stderr).toBe('SIGKILL');
      kills += 1;
    }

    const last = startProgram(['sync', '--quiet'], world.environment);

    expect((await last.ended(endBoundMs)).code, last.stderr).toBe(0);
    await expectWhole(world);
  },
);

test.each(seeds)(
  'workers that are killed again and again copy all (seed %i)',
  { timeout: testBoundMs },
  async (seed) => {
    const world = await open(seed, 'workers', 60);
    const random = seededRandom(seed);
    const start = () => startProgram(['start'], world.environment);
    let workers: readonly [Program, Program] = [start(), start()];
    for (let killed = 0; killed < killsOfStart;) {
      const victims = drawVictims(workers, random);
      expect(await killAt(drawMoment(random), sceneOf(world), victims)).toBe(true);
      await Promise.all(victims.map((victim) => victim.ended(endBoundMs)));
      workers = [
        victims.includes(workers[0]) ? start() : workers[0],
        victims.includes(workers[1]) ? start() : workers[1],
      ];
      killed += victims.length;
      kills += victims.length;
    }

    await eventually('the end of every feed', endBoundMs, () => isAllFinished(world));

    for (const worker of workers) {
      worker.kill('SIGTERM');
      expect((await worker.ended(endBoundMs)).code, worker.stderr).toBe(0);
    }
    await expectWhole(world);
  },
);

function sceneOf(world: FaultWorld): Scene {
  return {
    database: world.database,
    requests: () => world.simulator.requests,
    isOver: () => isAllFinished(world),
  };
}

/** Both of two workers once in four, else one of them. */
function drawVictims([first, second]: readonly [Program, Program], random: () => number) {
  const which = Math.floor(random() * 8);
  if (which < 2) return [first, second];
  return which < 5 ? [first] : [second];
}

async function isAllFinished({ database }: FaultWorld): Promise<boolean> {
  const { rows } = await database.pool.query<{ finished: boolean }>(
    "select count(*) = 3 and bool_and(state = 'finished') as finished from etl.ticks",
  );
  return rows[0]?.finished ?? false;
}

async function expectWhole({ database, seed, chain }: FaultWorld): Promise<void> {
  expect(await differences(database.pool, seed, chain)).toEqual({});
  expect(await ledgerFaults(database.pool, 'ended')).toEqual({});
}
