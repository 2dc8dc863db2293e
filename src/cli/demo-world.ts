import { devNull } from 'node:os';
import { resolve } from 'node:path';
import {
  demoChains,
  demoStart,
  longestList,
  startSimulator,
  type SeenRequest,
  type SimulatedChain,
} from '../../simulator/index.ts';
import type { Settings } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import { configuredFeeds } from '../sync/targets.ts';
import { registerFeeds } from '../sync/feeds.ts';
import type { SyncTarget } from '../sync/once.ts';
import type { ChosenFeeds } from './chosen-feeds.ts';
import type { Context, GlobalOptions } from './context.ts';
import { settingsOf } from './setup.ts';
import { targetsOf } from './sync.ts';

/** What the demo's world is made from; any seed will do. */
export const demoSeed = 1;
/** The key that its explorer accepts. */
const demoKey = 'demo-key';
/** Items of a page. */
const pageItems = 50;
/** The demo's explorer is on this machine and has no rate to respect. */
const requestsPerSecond = 10_000;
/** What a free plan has for a day, in credits (docs/api-costs.md). */
const freeDayCredits = 100_000;
/** How many of the newest batches have their blocks copied: those of half a day would take a minute. */
const copiedBatches = 10;
/** A folder that holds no configuration file, on any machine. */
const noFolder = devNull;

/** The list in the middle of which the worker is killed. */
export const stageFeed = `${longestList.chainId}/${longestList.operation}`;

const isOnStage = ({ chainId, operation }: SeenRequest) =>
  chainId === longestList.chainId && operation === longestList.operation;

/** The chains of the demo, as they are now. */
export interface DemoWorld {
  readonly startMs: number;
  readonly chains: readonly SimulatedChain[];
}

/** @param startMs when it begins; null: no earlier demo has shown it */
export function demoWorld(startMs: number | null, nowMs: number): DemoWorld {
  const beginMs = startMs ?? demoStart(nowMs);
  return { startMs: beginMs, chains: demoChains(beginMs, nowMs) };
}

/** How many pages the list has in which the worker is killed, at least. */
export function stagePages({ chains }: DemoWorld): number {
  const items = chains.find(({ id }) => id === longestList.chainId)?.userOperations ?? 0;
  return Math.floor(items / pageItems);
}

/** The settings of the demo: of the user's, only the database. */
export function demoSettings(
  context: Context,
  options: GlobalOptions & ChosenFeeds,
  { chains }: DemoWorld = demoWorld(null, Date.now()),
): Settings {
  const env = { ...databaseOf(context), EXPLORER_API_KEY: demoKey };
  // A configuration file is about other chains.
  const { config: _ignored, ...rest } = options;
  const chain = options.chain ?? chains.map(({ id }) => String(id));
  const settings = settingsOf({ ...context, env, cwd: noFolder }, { ...rest, chain });
  const explorer = { ...settings.explorer, requestsPerSecond, dailyCredits: freeDayCredits };
  return { ...settings, explorer };
}

/** What of the environment names the database, for settings that are read in another folder. */
function databaseOf({ env, cwd }: Context): NodeJS.ProcessEnv {
  const files = ['DATABASE_URL_FILE', 'DATABASE_URL_DIRECT_FILE'].flatMap((name) => {
    const path = env[name]?.trim() ?? '';
    // Empty is as good as unset, and no folder.
    return path === '' ? [] : [[name, resolve(cwd, path)]];
  });
  const { DATABASE_URL, DATABASE_URL_DIRECT } = env;
  return { DATABASE_URL, DATABASE_URL_DIRECT, ...Object.fromEntries(files) };
}

/** All that the simulated chains have, and the blocks of their newest batches. */
export function demoTargets(
  { chains, ...settings }: Settings,
  { chains: simulated }: DemoWorld,
): SyncTarget[] {
  return chains.flatMap((chain) =>
    targetsOf({ ...settings, chains: [chain] }, newestOf(chain.id, simulated), new Date()),
  );
}

/** Makes the newest batches of each chain the target of their blocks, as flags would. */
export async function setDemoTargets(
  db: Database,
  { chains }: Settings,
  { chains: simulated }: DemoWorld,
  origin: string,
): Promise<void> {
  const feeds = chains.flatMap((chain) => configuredFeeds([chain], newestOf(chain.id, simulated)));
  await registerFeeds(db, feeds, 'flags', { origin, isSameData: false });
}

function newestOf(chainId: number, simulated: DemoWorld['chains']) {
  const range = simulated.find(({ id }) => id === chainId)?.batches;
  if (range === undefined) return {};
  const newest = range.first + range.count - 1;
  return { fromBatch: newest - copiedBatches + 1, toBatch: newest };
}

/** The explorer of the demo. */
export interface DemoExplorer {
  readonly url: string;
  readonly requests: number;
  /** Requests to the list in which the worker is killed. */
  readonly stageRequests: number;
  /** Sends the answers that were kept back, and answers all others from now on. */
  release(): void;
  close(): Promise<void>;
}

/**
 * Starts it.
 *
 * @param freely so many requests to that list are answered; others wait until `release`. So a worker is
 *   in the middle of it when it is killed, on a machine of any speed
 */
export async function openDemoExplorer(
  { chains }: DemoWorld,
  freely: number,
): Promise<DemoExplorer> {
  let isReleased = false;
  let stageRequests = 0;
  const released = Promise.withResolvers<void>();
  const simulator = await startSimulator({
    seed: demoSeed,
    chains,
    apiKey: demoKey,
    hold(seen) {
      if (isReleased || !isOnStage(seen)) return null;
      stageRequests += 1;
      return stageRequests > freely ? released.promise : null;
    },
  });
  const release = () => {
    isReleased = true;
    released.resolve();
  };
  return {
    url: simulator.url,
    get requests() {
      return simulator.requests;
    },
    get stageRequests() {
      return stageRequests;
    },
    release,
    async close() {
      release();
      await simulator.close();
    },
  };
}
