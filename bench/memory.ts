import { withExplorer } from './explorer.ts';
import type { Server } from './server.ts';
import { measureSync, type MemorySample } from './sync.ts';
import { chainOf } from './world.ts';

/** What the syncing process holds after a few pages and after many, of one walk. */
export async function measureMemory(
  server: Server,
  { atPages }: { readonly atPages: readonly number[] },
  signal: AbortSignal,
): Promise<readonly MemorySample[]> {
  const chain = chainOf(Math.max(...atPages));
  return withExplorer({ chain, latencyMs: 0 }, signal, async (explorerUrl) => {
    const { dataDirectory } = server;
    const { memory } = await server.withDatabase((databaseUrl) =>
      measureSync({ databaseUrl, dataDirectory, explorerUrl, memoryAtPages: atPages }, signal),
    );
    return memory;
  });
}
