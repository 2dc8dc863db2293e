import { setTimeout as delay } from 'node:timers/promises';
import { onTestFailed } from 'vitest';
import { startInstantMs } from '../../simulator/index.ts';
import { loadSettings } from '../../src/config/load.ts';
import { type ConfiguredLane, configuredLanes } from '../../src/sync/targets.ts';
import { areCopied, openCron, runsUnderWay, type SendRuns } from './cron.ts';
import { Crew } from './crew.ts';
import { hangMs } from './hang.ts';
import { testKey } from './key.ts';
import { standing, Worker } from './process.ts';
import { openWorld, type World, type WorldOptions } from './world.ts';

/** How often a run is looked at, in ms: a small part of what one takes. */
const pollMs = 4;

export interface DrivenOptions extends WorldOptions {
  readonly operations: Readonly<Record<string, object>>;
  readonly workers: number;
  /** Simulated ms that pass with a request, from any process; none if absent. */
  readonly passMs?: () => number;
}

/** A chain that moves, and `start` processes that watch it, by one clock that the test drives. */
export interface DrivenWorld extends World {
  readonly lanes: readonly ConfiguredLane[];
  readonly crew: Crew<Worker>;
  /** Simulated ms since the start. */
  readonly nowMs: number;
  /** Moves the clock; resolves when every worker goes by the new time. */
  setTime(atMs: number): Promise<void>;
  readonly sendRuns: SendRuns;
  /** Whether every run that was sent has been taken up and closed. */
  isAtRest(): Promise<boolean>;
  /** Waits until every feed has been copied once. */
  untilCopied(): Promise<void>;
  untilAtRest(): Promise<void>;
}

export async function openDrivenWorld(options: DrivenOptions): Promise<DrivenWorld> {
  let nowMs = 0;
  const world = await openWorld({
    ...options,
    clock: () => nowMs,
    onRequest: () => {
      nowMs += options.passMs?.() ?? 0;
    },
  });
  const { pool, url } = world.database;
  const env = { EXPLORER_API_KEY: testKey };
  const settings = loadSettings({ env, cwd: world.place.cwd });
  const instantMs = () => startInstantMs + nowMs;
  const crew = new Crew(
    options.workers,
    () => new Worker(world.place, { clock: { ...standing, instantMs: instantMs() } }),
  );
  onTestFailed(() => {
    for (const { stderr } of crew.members) process.stderr.write(`${stderr.slice(-3000)}\n---\n`);
  });
  const sendRuns = await openCron(url);
  await crew.fill();
  const isAtRest = async () => (await runsUnderWay(pool)).length === 0;
  const until = async (poll: () => Promise<boolean>) => {
    const endMs = performance.now() + hangMs;
    while (!(await poll())) {
      if (performance.now() > endMs) {
        const hanging = JSON.stringify(await runsUnderWay(pool));
        throw new Error(`at ${nowMs / 3_600_000} h a run hangs: ${hanging}`);
      }
      await delay(pollMs);
    }
  };
  const feeds = Object.keys(options.operations).length;
  return {
    ...world,
    lanes: configuredLanes(settings.chains),
    crew,
    get nowMs() {
      return nowMs;
    },
    async setTime(atMs) {
      nowMs = atMs;
      await Promise.all(crew.members.map((worker) => worker.setTime(instantMs())));
    },
    sendRuns,
    isAtRest,
    untilCopied: () => until(async () => (await areCopied(pool, feeds)) && (await isAtRest())),
    untilAtRest: () => until(isAtRest),
  };
}
