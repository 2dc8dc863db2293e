import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { drawsOf } from '../../simulator/random.ts';
import { operationNames } from '../../src/lists/registry.ts';
import { drawWhen, playFaults, type Scene } from '../harness/faults.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { type Child, Crew, eventually, startProgram } from '../harness/process.ts';
import { freePort } from '../harness/ports.ts';
import { differences } from '../harness/tables.ts';
import { chainOfSeed, openWorld, type World } from '../harness/world.ts';

/** The seed that the environment chooses, or else this one. */
export const seedOr = (standard: number): number => Number(process.env['KILL_SEED'] ?? standard);

/** How often `sync` and `start` are killed. */
const killsOfSync = 7;
const killsOfStart = 8;

/** A slow answer, in ms: few are given while a busy machine gets round to a kill. */
const slowMs = 2_000;

const batches = { first: 1, count: 35, blocks: 30 };

/** A small chain with oddities, and an explorer that answers slowly once a kill is late. */
async function openScene(seed: number, command: string, latencyMs: number) {
  let slowFrom = Infinity;
  const world: World = await openWorld({
    seed,
    chain: {
      ...chainOfSeed(seed),
      userOperations: 1500,
      batches,
      gaps: [4],
      factories: 400,
      otherRankings: 120,
      oddities: [
        'duplicates-in-page',
        'duplicates-across-pages',
        'empty-page-with-cursor',
        'missing-hash',
      ],
    },
    latency: () => (world.simulator.requests > slowFrom ? slowMs : latencyMs),
    operations: {
      ...Object.fromEntries(operationNames.map((name) => [name, {}])),
      'optimism-batch-blocks': { from_batch: 1, to_batch: batches.count },
    },
    explorer: { page_size: 10 },
    repeat: `KILL_SEED=${seed} npm run test:long -- kill -t "${command}"`,
  });
  const scene: Scene = {
    pool: world.database.pool,
    requests: () => world.simulator.requests,
    slowAfter: (requests) => void (slowFrom = requests),
    isOver: () => isAllFinished(world),
  };
  return { world, scene, random: drawsOf(seed)('kills', 0) };
}

/** Kills each `sync` at its moment; the last one is left alone. What is wrong then, if anything. */
export async function killSyncs(seed: number): Promise<object> {
  const { world, scene, random } = await openScene(seed, 'a sync', 15);
  const syncs = new Crew(1, () => startProgram(['sync', '--quiet'], world.place));
  await syncs.fill();
  const isOver = async () => syncs.members.every(({ isRunning }) => !isRunning);
  const kills = Array.from({ length: killsOfSync }, () => ({
    when: drawWhen(random),
    inject: () => syncs.kill(syncs.members),
  }));

  expect(await playFaults(kills, { ...scene, isOver })).toEqual(kills.map(() => true));

  for (const last of syncs.members) expect((await last.ended()).code, last.stderr).toBe(0);
  return faultsOf(world);
}

/** Kills one or both of two workers that are looked at, and starts others in their place. */
export async function killWorkers(seed: number): Promise<object> {
  const { world, scene, random } = await openScene(seed, 'workers', 60);
  const workers = new Crew(2, async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const worker = startProgram(['start', '--http', address], world.place);
    void look(worker, `http://${address}/`);
    return worker;
  });
  await workers.fill();
  let killed = 0;
  function* kills() {
    while (killed < killsOfStart) {
      const victims = workers.drawSome(random);
      killed += victims.length;
      yield { when: drawWhen(random), inject: () => workers.kill(victims) };
    }
  }

  expect(new Set(await playFaults(kills(), scene))).toEqual(new Set([true]));

  await eventually('the end of every feed', () => isAllFinished(world));
  expect(await workers.stop()).toEqual(workers.members.map(() => ({ code: 0, signal: null })));
  return faultsOf(world);
}

/** How long a reader of the page rests, in ms. */
const pauseMs = 200;

/** Looks at its page for as long as it runs. */
async function look(program: Child, url: string): Promise<void> {
  while (program.isRunning) {
    await fetch(url)
      .then((page) => page.text())
      .catch(() => undefined);
    await delay(pauseMs);
  }
}

async function isAllFinished({ database }: World): Promise<boolean> {
  const rows = await database.query(
    "select count(distinct feed) = $1 and bool_and(state = 'finished') as finished from etl.runs",
    [operationNames.length],
  );
  return rows[0]?.finished ?? false;
}

async function faultsOf({ database, seed, chain }: World): Promise<object> {
  const rows = await differences(database.pool, seed, chain, { operations: operationNames });
  return { ...rows, ...(await ledgerFaults(database.pool, 'ended')) };
}
