import type { SimulatedChain } from '../simulator/index.ts';
import { answerOf, startChild } from './child.ts';
import { apiKey, seed } from './world.ts';

/** A simulated explorer that runs while `use` does. It does not compress: that is the service's cost. */
export async function withExplorer<Result>(
  { chain, latencyMs }: { readonly chain: SimulatedChain; readonly latencyMs: number },
  signal: AbortSignal,
  use: (url: string) => Promise<Result>,
): Promise<Result> {
  const input = { seed, chains: [chain], apiKey, latencyMs, gzip: false };
  const child = startChild('explorer-process.ts', input, { signal });
  try {
    const { url } = await answerOf<{ url: string }>(child);
    return await use(url);
  } finally {
    if (child.process.connected) child.process.disconnect();
    await child.exited;
  }
}
