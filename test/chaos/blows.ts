import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseProxy } from '../support/database-proxy.ts';
import type { NamedWorker } from './worker.ts';

/** How long a worker is stopped, and the database away, in ms, at most. */
const mostStoppedMs = 6_000;
const mostAwayMs = 2_500;
/** What a blow works on. */
export interface Scene {
  readonly workers: NamedWorker[];
  readonly proxy: DatabaseProxy;
  readonly random: () => number;
  readonly start: () => NamedWorker;
}

/** All that is done to workers and their database, with its weight. */
const blows: Readonly<
  Record<string, { readonly weight: number; run(scene: Scene): Promise<void> }>
> = {
  kill: {
    weight: 5,
    async run({ workers, random, start }) {
      const place = Math.floor(random() * workers.length);
      const victim = workers[place];
      if (victim === undefined) return;
      victim.kill('SIGKILL');
      await victim.ended;
      workers[place] = start();
    },
  },
  stop: {
    weight: 2,
    async run({ workers, random }) {
      const victim = workers[Math.floor(random() * workers.length)];
      victim?.kill('SIGSTOP');
      await delay(random() * mostStoppedMs);
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
};

/** Does one of the blows, drawn by weight. @returns its name */
export async function strike(scene: Scene): Promise<string> {
  const name = drawBlow(scene.random);
  await blows[name]?.run(scene);
  return name;
}

function drawBlow(random: () => number): string {
  const total = Object.values(blows).reduce((sum, { weight }) => sum + weight, 0);
  let left = random() * total;
  for (const [name, { weight }] of Object.entries(blows)) {
    left -= weight;
    if (left < 0) return name;
  }
  return 'kill';
}
