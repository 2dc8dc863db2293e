import { onTestFinished } from 'vitest';
import { type SimulatedChain, startSimulator } from '../../../simulator/index.ts';
import type { SyncResult } from '../../../src/sync/once.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { runSync, type SyncRun } from '../../harness/sync.ts';

/** What the chains of these tests are made from. */
export const copySeed = 5;

const secretKey = 'secret-of-the-key';

/** A chain with a few pages of everything; `changes` make it special. */
export function smallChain(changes: Partial<SimulatedChain>): SimulatedChain {
  return {
    id: 10,
    name: 'optimism',
    family: 'arbitrum',
    generation: 'v12',
    userOperations: 460,
    batches: { first: 1, count: 4, blocks: 60 },
    factories: 210,
    ...changes,
  };
}

interface Copy extends Pick<TestDatabase, 'pool'> {
  readonly results: readonly SyncResult[];
  readonly requests: () => number;
  /** How many items the simulated explorer has handed out, copies included. */
  readonly handedOut: () => number;
  close(): Promise<void>;
}

type CopyRun = Pick<SyncRun, 'pageSize' | 'operations' | 'maxPages' | 'since'>;

/** Copies a simulated chain, with the secret key, into a database of the running test. */
export async function copyChain(chain: SimulatedChain, run: CopyRun = {}): Promise<Copy> {
  const copy = await openCopy(chain, run);
  onTestFinished(() => copy.close());
  return copy;
}

/** Copies a simulated chain, with the secret key, into a database that lives until closed. */
export async function openCopy(chain: SimulatedChain, run: CopyRun = {}): Promise<Copy> {
  let handedOut = 0;
  const simulator = await startSimulator({
    seed: copySeed,
    chains: [chain],
    secretKey,
    onRequest: ({ items }) => {
      handedOut += items;
    },
  });
  const database = await createTestDatabase();
  const close = async () => {
    await simulator.close();
    await database.drop();
  };
  try {
    const results = await runSync(database, {
      url: simulator.url,
      chains: [chain],
      secretKey,
      ...run,
    });
    return {
      pool: database.pool,
      results,
      requests: () => simulator.requests,
      handedOut: () => handedOut,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
