import { withExplorer } from './explorer.ts';
import { measureBareRead, measureCopy, type CopyFloor } from './floor.ts';
import type { Server } from './server.ts';
import { measureSync, type SyncMeasure } from './sync.ts';
import { chainOf, pageSize } from './world.ts';

/** One feed against an API that answers at once, beside what reading and writing alone cost. */
export interface Throughput {
  readonly rows: number;
  readonly sync: SyncMeasure;
  readonly copy: CopyFloor;
  readonly bareReadSeconds: number;
}

/** Copies a list of `pages` pages into a fresh database, `runs` times, slowest first. */
export async function measureThroughput(
  server: Server,
  { pages, runs }: { readonly pages: number; readonly runs: number },
  signal: AbortSignal,
): Promise<readonly Throughput[]> {
  return withExplorer({ chain: chainOf(pages), latencyMs: 0 }, signal, async (explorerUrl) => {
    const measured: Throughput[] = [];
    for (let run = 0; run < runs; run += 1) {
      const bareReadSeconds = await measureBareRead(explorerUrl, pages);
      const result = await server.withDatabase(async (databaseUrl) => {
        const { dataDirectory } = server;
        const input = { databaseUrl, dataDirectory, explorerUrl, memoryAtPages: [] };
        const sync = await measureSync(input, signal);
        return { sync, copy: await measureCopy(databaseUrl) };
      });
      measured.push({ rows: pages * pageSize, bareReadSeconds, ...result });
    }
    return measured.toSorted((a, b) => b.sync.walkMs - a.sync.walkMs);
  });
}
