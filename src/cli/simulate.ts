import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import {
  faultNames,
  faultsAtRates,
  startSimulator,
  type Family,
  type FaultRate,
  type Generation,
  type Limits,
  type SimulatorOptions,
  type SimulatedChain,
} from '../../simulator/index.ts';
import { wrap } from '../terminal/layout.ts';
import { collect, momentParser, wholeNumber } from './options.ts';
import { exits, UsageError, type Context, type Exit, type Registry } from './context.ts';

/** `simulate --json`: written once the server listens; it then waits for a signal. */
export const simulateDocument = z.strictObject({
  schema: z.literal('explorer-etl/simulate/1'),
  url: z.string(),
  chains: z.array(z.int()),
});

interface SimulateOptions extends SimulatorOptions, Limits {
  readonly until?: string;
  readonly fault?: readonly FaultRate[];
}

const families: readonly Family[] = ['optimism', 'arbitrum', 'celo', 'plain'];
const generations: readonly Generation[] = ['v10', 'v11', 'v12'];

/** The highest TCP port. */
const highestPort = 65_535;

const defaultChains = '10:optimism:v12,42220:celo:v11';

const usualKey = 'simulated-key';

/** What a chain is like by default. */
const size = {
  userOperations: 10_000,
  batches: { first: 1, count: 100, blocks: 200 },
  factories: 500,
  otherRankings: 120,
  usualAmounts: true,
};

const blocksPerMinute = 30;
const hourMs = 3_600_000;

const faultHelp =
  'what goes wrong, with part =RATE of the requests (0.01; all if absent); several times';

export function register({ command, run, explain }: Registry): void {
  command
    .option('--port <n>', 'port to listen on, 0 for any', wholeNumber(0, highestPort), 8545)
    .option('--seed <n>', 'what everything is made from: same seed, same data', wholeNumber(0), 1)
    .option(
      '--until <time>',
      'when its newest block was made (default: the last full hour)',
      momentParser(),
    )
    .addOption(
      new Option(
        '--chains <list>',
        'id:family:generation[:user operations[:batches]], separated by commas',
      )
        .argParser(parseChains)
        .default(parseChains(defaultChains), defaultChains),
    )
    .option('--latency-ms <n>', 'how long every answer takes', wholeNumber(0), 0)
    .option('--api-key <key>', 'the key that it accepts', usualKey)
    .option('--requests-per-second <n>', 'refuse more than so many requests', wholeNumber(1))
    .option('--daily-credits <n>', 'refuse what costs more in a day (20 a page)', wholeNumber(0))
    .option('--fault <name[=rate]>', faultHelp, collect(parseFault));
  command.action(run<SimulateOptions>(simulate));
  explain(
    [
      'explorer-etl simulate',
      'explorer-etl simulate --port 8545 --chains 10:optimism:v12:1000000:400,1:plain:v11',
    ],
    `Families: ${families.join(', ')}. Generations: ${generations.join(', ')}.

Faults:
${wrap(faultNames.join(', '), 76)
  .map((names) => `  ${names}`)
  .join('\n')}`,
  );
}

async function simulate(context: Context, options: SimulateOptions): Promise<Exit> {
  const { port, chains, apiKey, fault = [] } = options;
  // Nothing that a restart within the hour serves has another time than before.
  const hour = Math.floor(Date.now() / hourMs) * hourMs;
  const startsAtMs = options.until === undefined ? hour : Date.parse(options.until);
  const simulator = await startSimulator({
    ...options,
    chains: chains.map((chain) => ({ ...chain, startsAtMs })),
    limits: () => options,
    faults: faultsAtRates(fault),
  }).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `the simulated explorer can't listen on port ${port}: ${why}. Choose another with --port, or 0 for any that is free.`,
    );
  });
  const { url } = simulator;
  const ids = chains.map(({ id }) => id);
  const text = `Simulated explorer listens on ${url} for chains ${ids.join(', ')}; Ctrl-C ends it.
Other commands read it with:
  export EXPLORER_BASE_URL=${url} EXPLORER_API_KEY=${apiKey === usualKey ? usualKey : '…'}
`;
  context.print(simulateDocument, { url, chains: ids }, text);
  await context.untilStopped();
  await simulator.close();
  return exits.done;
}

const chainForm = new RegExp(
  String.raw`^(?<id>[1-9]\d{0,14})(?::(?<family>${families.join('|')})(?::(?<generation>${generations.join('|')})(?::(?<operations>\d+)(?::(?<batches>\d+))?)?)?)?$`,
  'u',
);

function parseChains(list: string): SimulatedChain[] {
  return list.split(',').map((text) => {
    const parts = chainForm.exec(text)?.groups;
    if (parts === undefined) {
      throw new InvalidArgumentError(
        `"${text}" is not a chain such as 10:optimism:v12. Families are ${families.join(', ')}; generations ${generations.join(', ')}.`,
      );
    }
    const { id, family = 'optimism', generation = 'v12', operations, batches } = parts;
    const userOperations = Number(operations ?? size.userOperations);
    const count = Number(batches ?? size.batches.count);
    // Both lists end at the newest block.
    const minutes = (count * size.batches.blocks) / blocksPerMinute;
    return {
      ...size,
      motion: {
        operationsPerMinute: minutes === 0 ? 1 : userOperations / minutes || 1,
        pendingMs: 0,
      },
      id: Number(id),
      name: `simulated-${id}`,
      family: family as Family,
      generation: generation as Generation,
      userOperations,
      batches: { ...size.batches, count },
    };
  });
}

/** The value of a `--fault` option. */
function parseFault(text: string): FaultRate {
  const [written = '', rate = '1', ...rest] = text.split('=');
  const name = faultNames.find((known) => known === written);
  if (name === undefined) {
    throw new InvalidArgumentError('there is no such fault. "help simulate" names all.');
  }
  if (rest.length === 0 && Number(rate) > 0 && Number(rate) <= 1) {
    return { name, rate: Number(rate) };
  }
  throw new InvalidArgumentError(`The rate is one number above 0 and at most 1, as in 0.01.`);
}
