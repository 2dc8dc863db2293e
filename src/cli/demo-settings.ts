import { devNull } from 'node:os';
import { resolve } from 'node:path';
import type { Settings } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import { registerFeeds } from '../sync/feeds.ts';
import type { SyncTarget } from '../sync/once.ts';
import { configuredFeeds } from '../sync/targets.ts';
import type { ChosenFeeds } from './chosen-feeds.ts';
import type { Context, GlobalOptions } from './context.ts';
import { demoKey, demoWorld, type DemoWorld } from './demo-world.ts';
import { settingsOf } from './setup.ts';
import { targetsOf } from './sync.ts';

/** The demo's explorer is on this machine, so its rate is no one's limit. */
const demoRequestsPerSecond = 10_000;
/** How many of the newest batches have their blocks copied: those of half a day would take a minute. */
const copiedBatches = 10;
/** A folder that holds no configuration file, on any machine. */
const noFolder = devNull;

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

/** The settings of the demo: of the user's, only the database. */
export function demoSettings(
  context: Context,
  options: GlobalOptions & ChosenFeeds,
  { chains }: DemoWorld = demoWorld(null, Date.now()),
): Settings {
  const env = { ...databaseOf(context), EXPLORER_API_KEY: demoKey };
  // Whatever file lies in this folder or is named is about other chains.
  const { config: _ignored, ...rest } = options;
  const chain = options.chain ?? chains.map(({ id }) => String(id));
  const settings = settingsOf({ ...context, env, cwd: noFolder }, { ...rest, chain });
  return {
    ...settings,
    explorer: { ...settings.explorer, requestsPerSecond: demoRequestsPerSecond },
  };
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
