import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { operationNames } from '../../src/lists/registry.ts';
import { drawWhen, injectFault, killOf, type Scene } from '../harness/faults.ts';
import { hangMs } from '../harness/hang.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { eventually, type Program, startProgram } from '../harness/process.ts';
import { seededRandom } from '../harness/random.ts';
import { freePort } from '../harness/servers.ts';
import { differences } from '../harness/tables.ts';
import { type FaultWorld, openWorld } from './world.ts';

/** Each seed kills `sync` and `start` this often: 50 in all with the seeds of both tests. */
const killsOfSync = 13;
const killsOfStart = 12;

/** The seed that the environment chooses, or else this one. */
export const seedOr = (standard: number): number => Number(process.env['KILL_SEED'] ?? standard);

const open = (seed: number, command: string, latencyMs: number) =>
  openWorld(seed, {
    latencyMs,
    repeat: `KILL_SEED=${seed} npm run test:long -- kill -t "${command}"`,
  });

/** Kills each `sync` at its moment; the last one is left alone. What is wrong then, if anything. */
export async function killSyncs(seed: number): Promise<object> {
  const world = await open(seed, 'a sync', 15);
  const random = seededRandom(seed);
  for (let killed = 0; killed < killsOfSync; killed += 1) {
    const program = startProgram(['sync', '--quiet'], world.environment);
    const scene = { ...sceneOf(world), isOver: async () => !program.isRunning };
    await injectFault({ when: drawWhen(random), inject: killOf([program]) }, scene);
    const { signal } = await program.ended(hangMs);
    expect(signal, program.stderr).toBe('SIGKILL');
  }

  const last = startProgram(['sync', '--quiet'], world.environment);

  expect((await last.ended(hangMs)).code, last.stderr).toBe(0);
  return faultsOf(world);
}

/** How long somebody rests who has seen the page, in ms. */
const restMs = 200;

/** Looks at its page for as long as it runs. */
async function look(program: Program, url: string): Promise<void> {
  while (program.isRunning) {
    await fetch(url)
      .then((page) => page.text())
      .catch(() => undefined);
    await delay(restMs);
  }
}

/** Kills one or both of two workers that are looked at, and starts others in their place. What is wrong at the end. */
export async function killWorkers(seed: number): Promise<object> {
  const world = await open(seed, 'workers', 60);
  const random = seededRandom(seed);
  const start = async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const worker = startProgram(['start', '--http', address], world.environment);
    void look(worker, `http://${address}/`);
    return worker;
  };
  let workers: readonly [Program, Program] = [await start(), await start()];
  for (let killed = 0; killed < killsOfStart;) {
    const victims = drawVictims(workers, random);
    const kill = { when: drawWhen(random), inject: killOf(victims) };
    expect(await injectFault(kill, sceneOf(world))).toBe(true);
    await Promise.all(victims.map((victim) => victim.ended(hangMs)));
    workers = [
      victims.includes(workers[0]) ? await start() : workers[0],
      victims.includes(workers[1]) ? await start() : workers[1],
    ];
    killed += victims.length;
  }

  await eventually('the end of every feed', hangMs, () => isAllFinished(world));

  for (const worker of workers) {
    worker.kill('SIGTERM');
    expect((await worker.ended(hangMs)).code, worker.stderr).toBe(0);
  }
  return faultsOf(world);
}

function sceneOf(world: FaultWorld): Scene {
  return {
    pool: world.database.pool,
    requests: () => world.simulator.requests,
    slowAfter: world.slowAfter,
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
    "select count(*) = 4 and bool_and(state = 'finished') as finished from etl.runs",
  );
  return rows[0]?.finished ?? false;
}

async function faultsOf({ database, seed, chain }: FaultWorld): Promise<object> {
  const rows = await differences(database.pool, seed, chain, { operations: operationNames });
  return { ...rows, ...(await ledgerFaults(database.pool, 'ended')) };
}
