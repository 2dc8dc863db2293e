import { withExplorer } from './explorer.ts';
import { measureBareRead } from './floor.ts';
import type { Server } from './server.ts';
import { measureSync, type SyncMeasure } from './sync.ts';
import { chainOf } from './world.ts';

/** How long the explorer lets every answer wait, in ms: a service across an ocean. */
export const latencyMs = 50;

/** One feed against a slow API, beside the same pages read and thrown away. */
export interface Latency {
  readonly sync: SyncMeasure;
  readonly bareReadSeconds: number;
}

/** Walks `pages` pages of a service that takes 50 ms for each. */
export async function measureLatency(
  server: Server,
  { pages }: { readonly pages: number },
  signal: AbortSignal,
): Promise<Latency> {
  return withExplorer({ chain: chainOf(pages), latencyMs }, signal, async (explorerUrl) => {
    const bareReadSeconds = await measureBareRead(explorerUrl, pages);
    const sync = await server.withDatabase((databaseUrl) => {
      const { dataDirectory } = server;
      return measureSync({ databaseUrl, dataDirectory, explorerUrl, memoryAtPages: [] }, signal);
    });
    return { sync, bareReadSeconds };
  });
}
