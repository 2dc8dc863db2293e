import {
  demoChains,
  demoStart,
  longestList,
  startSimulator,
  type SeenRequest,
  type SimulatedChain,
} from '../../simulator/index.ts';

/** What the demo's world is made from; any seed will do. */
export const demoSeed = 1;
/** The key that its explorer wants. */
export const demoKey = 'demo-key';
/** Items of a page. */
const pageItems = 50;

/** The list in the middle of which the worker is killed. */
const stage = longestList;
export const stageFeed = `${stage.chainId}/${stage.operation}`;

const isOnStage = ({ chainId, operation }: SeenRequest) =>
  chainId === stage.chainId && operation === stage.operation;

/** The chains of the demo, as they stand now. */
export interface DemoWorld {
  readonly startMs: number;
  readonly chains: readonly SimulatedChain[];
}

/** @param startMs when it begins; null: nobody has seen it yet */
export function demoWorld(startMs: number | null, nowMs: number): DemoWorld {
  const beginMs = startMs ?? demoStart(nowMs);
  return { startMs: beginMs, chains: demoChains(beginMs, nowMs) };
}

/** How many pages the list has in which the worker is killed, at least. */
export function stagePages({ chains }: DemoWorld): number {
  const items = chains.find(({ id }) => id === stage.chainId)?.userOperations ?? 0;
  return Math.floor(items / pageItems);
}

/** The explorer of the demo. */
export interface DemoExplorer {
  readonly url: string;
  readonly requests: number;
  /** Requests to the list in which the worker is killed. */
  readonly stageRequests: number;
  /** Requests that were made before `release` and again after it. */
  readonly again: number;
  /** Lets go of the answers that were kept back, and of all others. */
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
  const before = new Set<string>();
  const after = new Set<string>();
  let isReleased = false;
  let stageRequests = 0;
  const released = Promise.withResolvers<void>();
  const simulator = await startSimulator({
    seed: demoSeed,
    chains,
    apiKey: demoKey,
    onRequest: ({ url }) => void (isReleased ? after : before).add(url.href),
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
    get again() {
      return before.intersection(after).size;
    },
    release,
    async close() {
      release();
      await simulator.close();
    },
  };
}
