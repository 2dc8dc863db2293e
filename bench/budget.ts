/**
 * `npm run bench:budget [-- --seconds 10 --processes 4 --rate 50]`: how much of a key's rate they use, how evenly,
 * how long live waits beside history, and how soon a lower limit of the headers is obeyed, as the
 * service counts. Exit code 1 when a request was refused, or a second held more than one too many.
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  startSimulator,
  type Limits,
  type SimulatedChain,
  type Simulator,
} from '../simulator/index.ts';
import type { AskerInput, AskerRun, AskerWaits } from './asker.ts';
import { answerOf, startChild, type Child } from './child.ts';
import { interruptSignal } from './interrupt.ts';
import { withServer } from './server.ts';
import { drawTable, type Figure } from './table.ts';
import { apiKey } from './world.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    processes: { type: 'string', default: '4' },
    rate: { type: 'string', default: '50' },
  },
});

const processes = Number(values.processes);
/** What the key may do, and what the headers lower it to, per second. */
const limit = Number(values.rate);
const lowered = 5;
const latencyMs = 20;
const secondMs = 1000;

const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 2,
  batches: { first: 1, count: 0, blocks: 0 },
  factories: 0,
};

const signal = interruptSignal();

interface Seen {
  readonly at: number;
  readonly status: number;
}

/** How many of the requests came from `from` to `to`, in ms since the first one. */
function countBetween(seen: readonly Seen[], from: number, to: number): number {
  const start = seen[0]?.at ?? 0;
  return seen.filter(({ at }) => at - start >= from && at - start < to).length;
}

const median = (waits: readonly number[]) =>
  waits.toSorted((a, b) => a - b)[Math.floor(waits.length / 2)] ?? Infinity;

/** Lets all processes ask for so long, the first ones for live too. */
async function ask(askers: readonly Child[], ms: number, live: number): Promise<AskerWaits> {
  const waits = await Promise.all(
    askers.map(async (asker, index) => {
      const order: AskerRun = { ms, live: index < live ? 1 : 0, backfill: 4 };
      asker.process.send(order);
      const [answer] = (await once(asker.process, 'message', { signal })) as [AskerWaits];
      return answer;
    }),
  );
  return {
    live: waits.flatMap((each) => each.live),
    backfill: waits.flatMap((each) => each.backfill),
  };
}

/** The service as the askers meet it, and all that it saw since the last forgetting. */
interface Scene {
  readonly askers: readonly Child[];
  readonly simulator: Simulator;
  seen: Seen[];
  limits: Limits;
}

async function withScene(
  databaseUrl: string,
  use: (scene: Scene) => Promise<Figure[]>,
): Promise<Figure[]> {
  const simulator = await startSimulator({
    seed: 1,
    chains: [chain],
    latencyMs,
    apiKey,
    limits: () => scene.limits,
    onRequest: ({ status }) => void scene.seen.push({ at: performance.now(), status }),
  });
  const input: AskerInput = {
    databaseUrl,
    explorerUrl: simulator.url,
    apiKey,
    requestsPerSecond: limit,
    chainId: chain.id,
  };
  const askers = Array.from({ length: processes }, () => startChild('asker.ts', input, { signal }));
  const scene: Scene = { askers, simulator, seen: [], limits: { requestsPerSecond: limit } };
  try {
    await Promise.all(askers.map((asker) => answerOf(asker)));
    return await use(scene);
  } finally {
    for (const { process: child } of askers) child.kill('SIGKILL');
    await Promise.all(askers.map(({ exited }) => exited));
    await simulator.close();
  }
}

async function measureUse({ askers, simulator, seen }: Scene): Promise<Figure[]> {
  const ms = Number(values.seconds) * secondMs;
  await ask(askers, ms, 0);
  const used = countBetween(seen, 0, ms) / (limit * (ms / secondMs));
  const { busiestSecond } = simulator;
  const refused = seen.filter(({ status }) => status !== 200).length;
  if (refused > 0 || busiestSecond > limit + 1) process.exitCode = 1;
  return [
    {
      name: `rate that ${processes} processes use of ${limit}/s`,
      measured: `${(100 * used).toFixed(1)} %`,
      aim: 'at least 95 %',
      floor: '',
    },
    {
      name: 'requests in the busiest second',
      measured: String(busiestSecond),
      aim: `at most ${limit + 1}`,
      floor: `${limit} allowed`,
    },
    { name: 'refused (429)', measured: String(refused), aim: '0', floor: '' },
  ];
}

async function measureWaits({ askers }: Scene): Promise<Figure[]> {
  const { live, backfill } = await ask(askers, 4 * secondMs, 2);
  return [
    {
      name: 'wait of live beside history, median',
      measured: `${median(live).toFixed(0)} ms of ${live.length}`,
      aim: 'under 100 ms',
      floor: `${median(backfill).toFixed(0)} ms history`,
    },
  ];
}

async function measureLowering(scene: Scene): Promise<Figure[]> {
  scene.seen = [];
  const running = ask(scene.askers, 9 * secondMs, 0);
  const limitTo = async (requestsPerSecond: number, afterMs: number) => {
    await delay(afterMs, undefined, { signal });
    scene.limits = { requestsPerSecond };
    return performance.now() - (scene.seen[0]?.at ?? 0);
  };
  const loweredAt = await limitTo(lowered, 2 * secondMs);
  const raisedAt = await limitTo(limit, 4 * secondMs);
  await running;
  const inSecond = (from: number) => String(countBetween(scene.seen, from, from + secondMs));
  return [
    {
      name: `requests in the third second after ${lowered}/s`,
      measured: inSecond(loweredAt + 2 * secondMs),
      aim: `at most ${lowered + 1}`,
      floor: `${lowered} allowed`,
    },
    {
      name: `requests in the second second after ${limit}/s again`,
      measured: inSecond(raisedAt + secondMs),
      aim: `up to ${limit}`,
      floor: `${limit} allowed`,
    },
  ];
}

const measure = (databaseUrl: string) =>
  withScene(databaseUrl, async (scene) => [
    ...(await measureUse(scene)),
    ...(await measureWaits(scene)),
    ...(await measureLowering(scene)),
  ]);

try {
  await withServer((server) =>
    server.withDatabase(async (url) => console.log(drawTable(await measure(url)))),
  );
} catch (error) {
  if (!signal.aborted) throw error;
  process.exitCode = 130;
}
