import type { Settings } from '../src/config/settings.ts';
import { loadSettings } from '../src/config/load.ts';
import type { SimulatedChain } from '../simulator/index.ts';
import { answerOf, startChild } from './child.ts';

/** What everything is made from; any seed will do, the same one compares. */
const seed = 11;

export const apiKey = 'bench-key';

/** Items of a page: the most that the list serves. */
export const pageSize = 50;

/** Far above what any machine reaches, so that the budget is asked and never waits. */
const unlimited = 100_000;

/** A chain whose user operations fill exactly this many pages. */
export function chainOf(pages: number): SimulatedChain {
  return {
    id: 10,
    name: 'optimism',
    family: 'optimism',
    generation: 'v12',
    userOperations: pages * pageSize,
    batches: { first: 1, count: 0, blocks: 1 },
    factories: 0,
  };
}

/** The program's own settings for one feed of the simulated explorer; nothing else is changed. */
export function settingsFor(explorerUrl: string, requestsPerSecond = unlimited): Settings {
  const settings = loadSettings({
    cwd: '/',
    env: { EXPLORER_BASE_URL: explorerUrl, EXPLORER_API_KEY: apiKey },
    chains: [String(chainOf(0).id)],
    operations: ['user-operations'],
  });
  return {
    ...settings,
    explorer: { ...settings.explorer, requestsPerSecond, pageSize },
  };
}

interface World {
  readonly chain: SimulatedChain;
  readonly latencyMs: number;
  /** What a key may do; absent: everything. */
  readonly requestsPerSecond?: number;
}

/** A simulated explorer that runs. */
export interface Explorer {
  readonly url: string;
  /** How many requests have come. */
  readonly requests: () => Promise<number>;
}

/** A simulated explorer that runs while `use` does. */
export async function withExplorer<Result>(
  { chain, ...world }: World,
  signal: AbortSignal,
  use: (explorer: Explorer) => Promise<Result>,
): Promise<Result> {
  const input = { seed, chains: [chain], apiKey, ...world };
  const child = startChild('explorer-process.ts', input, { signal });
  try {
    const { url } = await answerOf<{ url: string }>(child);
    const requests = async () => {
      const answer = answerOf<{ requests: number }>(child);
      child.process.send('requests');
      return (await answer).requests;
    };
    return await use({ url, requests });
  } finally {
    if (child.process.connected) child.process.disconnect();
    await child.exited;
  }
}
