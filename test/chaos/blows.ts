import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Limits } from '../../simulator/index.ts';
import type { DatabaseProxy } from '../harness/servers.ts';
import type { ClockedWorker } from './clocked-worker.ts';
import { breakStatement, endSession, holdLedger, provokeDeadlock } from './database-blows.ts';
import { requestsPerSecond } from './world.ts';

/** How long a worker is stopped, the database away, and the key's limit another, in ms, at most. */
const mostStoppedMs = 6_000;
const mostAwayMs = 2_500;
const mostSwallowedMs = 4_000;
const mostLimitedMs = 5_000;

/** What a blow works on. */
export interface Scene {
  readonly workers: ClockedWorker[];
  readonly proxy: DatabaseProxy;
  /** To the database itself, not through the proxy. */
  readonly pool: Pool;
  readonly random: () => number;
  readonly start: () => ClockedWorker;
  /** Stops the database's server and starts it again; null where it is others' too, and is left alone. */
  readonly restartServer: (() => Promise<void>) | null;
  readonly setLimits: (limits: Limits) => void;
}

interface Blow {
  readonly weight: number;
  run(scene: Scene): Promise<void>;
}

const drawWorker = ({ workers, random }: Scene) => workers[Math.floor(random() * workers.length)];

/** The explorer allows so much of the usual for a while, and says so in its headers, or does not. */
const limit = (share: number, headers: Limits['headers'] = 'stated') => ({
  weight: 1,
  async run({ random, setLimits }: Scene) {
    setLimits({ requestsPerSecond: Math.ceil(requestsPerSecond * share), headers });
    await delay(random() * mostLimitedMs);
    setLimits({ requestsPerSecond });
  },
});

const restart: Blow = { weight: 1, run: async ({ restartServer }) => restartServer?.() };

/** All that is done to workers, their database and their key, with its weight. */
const blows: Readonly<Record<string, Blow>> = {
  kill: {
    weight: 6,
    async run(scene) {
      const victim = drawWorker(scene);
      if (victim === undefined) return;
      victim.kill('SIGKILL');
      await victim.ended;
      scene.workers[scene.workers.indexOf(victim)] = scene.start();
    },
  },
  'kill all': {
    weight: 1,
    async run({ workers, start }) {
      for (const worker of workers) worker.kill('SIGKILL');
      await Promise.all(workers.map(({ ended }) => ended));
      for (const place of workers.keys()) workers[place] = start();
    },
  },
  stop: {
    weight: 3,
    async run(scene) {
      const victim = drawWorker(scene);
      victim?.kill('SIGSTOP');
      await delay(scene.random() * mostStoppedMs);
      victim?.kill('SIGCONT');
    },
  },
  'cut the database': {
    weight: 4,
    run: async ({ proxy }) => void proxy.cutAll(),
  },
  'refuse the database': {
    weight: 1,
    async run({ proxy, random }) {
      proxy.set('refuse');
      proxy.cutAll();
      await delay(random() * mostAwayMs);
      proxy.set('open');
    },
  },
  'swallow what the database is told': {
    weight: 1,
    async run({ proxy, random }) {
      proxy.set('swallow');
      await delay(random() * mostSwallowedMs);
      proxy.set('open');
    },
  },
  'restart the database': restart,
  'end a session': { weight: 3, run: endSession },
  'cancel a statement': { weight: 3, run: breakStatement },
  'hold the ledger': { weight: 2, run: holdLedger },
  'provoke a deadlock': { weight: 2, run: provokeDeadlock },
  'lower the limit': limit(0.5),
  'raise the limit': limit(3),
  'lower the limit unsaid': limit(0.6, 'absent'),
  'say nothing of the limit': limit(1, 'unknown'),
};

/** Does one of the blows, drawn by weight. @returns its name */
export async function strike(scene: Scene): Promise<string> {
  const all = Object.entries(blows);
  const total = all.reduce((sum, [, { weight }]) => sum + weight, 0);
  let left = scene.random() * total;
  const [name, blow] = all.find(([, { weight }]) => (left -= weight) < 0) ?? ['none', null];
  if (blow === restart && scene.restartServer === null) return 'nothing: the server is not ours';
  await blow?.run(scene);
  return name;
}
