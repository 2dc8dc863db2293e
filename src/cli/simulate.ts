import { once } from 'node:events';
import { InvalidArgumentError, Option } from 'commander';
import {
  startSimulator,
  type Family,
  type Generation,
  type SimulatedChain,
} from '../simulator/index.ts';
import { wholeNumber } from './chosen-feeds.ts';
import { exitCodes, UsageError, writeJson, type Registry } from './context.ts';

interface SimulateOptions {
  readonly port: number;
  readonly seed: number;
  readonly chains: readonly SimulatedChain[];
  readonly latencyMs: number;
  readonly apiKey: string;
}

const families: readonly Family[] = ['optimism', 'arbitrum', 'celo', 'plain'];
const generations: readonly Generation[] = ['v10', 'v11', 'v12'];

const defaultChains = '10:optimism:v12,42220:celo:v11';

/** What a chain that is named without sizes holds. */
const size = { userOperations: 10_000, batches: 100, blocks: 200, factories: 500 };

/** `simulate`: the simulated explorer as a server. */
export function registerSimulate({ program, run }: Registry): void {
  program
    .command('simulate')
    .description('run the simulated explorer as a server, to try things without a key')
    .option('--port <n>', 'port to listen on, 0 for any', wholeNumber(0), 8545)
    .option('--seed <n>', 'what everything is made from: same seed, same data', wholeNumber(0), 1)
    .addOption(
      new Option(
        '--chains <list>',
        'id:family:generation[:user operations[:batches]], separated by commas',
      )
        .argParser(parseChains)
        .default(parseChains(defaultChains), defaultChains),
    )
    .option('--latency-ms <n>', 'how long every answer takes', wholeNumber(0), 0)
    .option('--api-key <key>', 'the key that it accepts', 'simulated-key')
    .addHelpText(
      'after',
      `
Families: ${families.join(', ')}. Generations: ${generations.join(', ')}.

Example:
  explorer-etl simulate --port 8545 --chains 10:optimism:v12:1000000:400,1:plain:v11
  EXPLORER_BASE_URL=http://127.0.0.1:8545 EXPLORER_API_KEY=simulated-key \\
    explorer-etl sync --chain 10 --from-batch 1 --to-batch 20
`,
    )
    .action(
      run<SimulateOptions>(async (context, options) => {
        const { port, seed, chains, latencyMs, apiKey } = options;
        const simulator = await startSimulator({ port, seed, chains, latencyMs, apiKey }).catch(
          (error: unknown) => {
            const why = error instanceof Error ? error.message : String(error);
            throw new UsageError(`the simulated explorer can't listen on port ${port}: ${why}`);
          },
        );
        const ids = chains.map(({ id }) => id);
        if (options.json) writeJson(context, { url: simulator.url, chains: ids });
        else {
          context.stdout(
            `Simulated explorer on ${simulator.url} for chains ${ids.join(', ')}; Ctrl-C ends it.\n`,
          );
        }
        if (!context.signal.aborted) await once(context.signal, 'abort');
        await simulator.close();
        return exitCodes.done;
      }),
    );
}

function parseChains(list: string): SimulatedChain[] {
  return list.split(',').map((text) => {
    const [id, family, generation, operations, batches, ...rest] = text.split(':');
    const chainId = wholeNumber(1)(id ?? '');
    const known = <T extends string>(value: string | undefined, all: readonly T[]): T => {
      const found = all.find((name) => name === value);
      if (found !== undefined) return found;
      throw new InvalidArgumentError(`In "${text}": one of ${all.join(', ')} is expected.`);
    };
    if (rest.length > 0) throw new InvalidArgumentError(`"${text}" has too many parts.`);
    return {
      id: chainId,
      name: `simulated-${chainId}`,
      family: known(family ?? 'optimism', families),
      generation: known(generation ?? 'v12', generations),
      userOperations: operations === undefined ? size.userOperations : wholeNumber(0)(operations),
      batches: {
        first: 1,
        count: batches === undefined ? size.batches : wholeNumber(0)(batches),
        blocks: size.blocks,
      },
      factories: size.factories,
    };
  });
}
