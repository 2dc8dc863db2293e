import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { z } from 'zod';
import { chainName, isKnownChain } from '../chains.ts';
import { readEnvironment } from '../config/environment.ts';
import { exampleConfig } from '../config/example.ts';
import { configFileName } from '../config/load.ts';
import { nearest } from '../config/nearest.ts';
import { operationNames } from '../lists/registry.ts';
import { printable } from '../printable.ts';
import { columns } from '../terminal/columns.ts';
import { type Look, mostProse } from '../terminal/look.ts';
import { paint } from '../terminal/paint.ts';
import { wrap } from '../terminal/width.ts';
import { addFeedOptions, chainOf, type ChosenFeeds } from './chosen-feeds.ts';
import { addExamples, type CommandLine, commandLineOf } from './command-line.ts';
import { type Context, type GlobalOptions, type Registry, UsageError } from './context.ts';
import { printAnswer } from './print.ts';

export const initDocument = z.strictObject({
  schema: z.literal('explorer-etl/init/1'),
  file: z.string(),
  chains: z.array(z.int()),
  /** Not known to this program; the explorer may not serve them. */
  unknown_chains: z.array(z.int()),
});

type Written = Omit<z.infer<typeof initDocument>, 'schema'>;

/** What to mirror: from the flags, or a person's answers. */
interface Choice {
  readonly chains: readonly number[];
  readonly lists: readonly string[];
}

/** `init`: writes a first configuration file. Never overwrites one. */
export function registerInit({ command, run }: Registry): void {
  addExamples(
    addFeedOptions(command).action(run(init)),
    ['explorer-etl init --chain optimism', 'explorer-etl init --chain 10 --chain base'],
    `Without flags, it asks in a terminal; elsewhere it takes ${chainName(usual.chains[0])} and all operations.`,
  );
}

async function init(context: Context, options: ChosenFeeds & GlobalOptions) {
  const name = options.config ?? configFileName;
  const file = resolve(context.cwd, name);
  if (existsSync(file)) {
    throw new UsageError(`${name} exists already and was left as it is. Edit or remove it.`);
  }
  const { chain, operation } = options;
  const flags: Choice = {
    chains: chain?.map(knownChain) ?? usual.chains,
    lists: operation ?? usual.lists,
  };
  const { isTerminal } = context.out;
  const isRequested = (chain ?? operation) === undefined && isTerminal && !options.json;
  const { chains, lists } =
    isRequested && process.stdin.isTTY ? await askForChoice(context) : flags;
  const ids = [...new Set(chains)];
  const fields = { file: name, chains: ids, unknown_chains: ids.filter((id) => !isKnownChain(id)) };
  writeFileSync(file, exampleConfig(ids, lists), { flag: 'wx' });
  const commandLine = commandLineOf(context);
  if (fields.unknown_chains.length > 0) {
    context.stderr(unknownText(fields.unknown_chains, commandLine));
  }
  return printAnswer(context, options, {
    schema: initDocument,
    fields,
    text: () => initText(fields, context.out, { hasKey: hasKey(context), commandLine }),
  });
}

/** Optimism has every list. */
const usual = { chains: [10], lists: operationNames } as const;

async function askForChoice({ signal, stderr }: Context): Promise<Choice> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // A terminal in raw mode sends no signal by itself.
  terminal.on('SIGINT', () => void process.kill(process.pid, 'SIGINT'));
  /** Repeats the question until every name is valid; an empty answer means the usual. */
  const ask = async <T>(what: string, all: readonly T[], read: (name: string) => T) => {
    for (;;) {
      const answer = await terminal.question(what, { signal });
      const names = answer.split(/[\s,]+/u).filter((name) => name !== '');
      try {
        return names.length === 0 ? all : names.map(read);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        stderr(`${error.message}\n`);
      }
    }
  };
  try {
    const chain = chainName(usual.chains[0]);
    const chains = await ask(`Chains, by name or number [${chain}]: `, usual.chains, knownChain);
    const which = `Lists: ${usual.lists.join(', ')}\nWhich of them [all]: `;
    const lists = await ask<string>(which, usual.lists, listOf);
    return { chains, lists };
  } catch (error) {
    signal.throwIfAborted();
    if ((error as Error).name !== 'AbortError') throw error;
    throw new UsageError('nothing was chosen, and nothing was written.');
  } finally {
    terminal.close();
  }
}

function listOf(name: string): string {
  if (operationNames.some((known) => known === name)) return name;
  const near = nearest(name, operationNames);
  const guess = near === null ? '' : `; did you mean ${near}?`;
  throw new UsageError(`no list is called ${name}${guess}`);
}

/** Whether a key is set; commands that use it validate it. */
const hasKey = ({ env, cwd }: Pick<Context, 'env' | 'cwd'>) =>
  readEnvironment(env, cwd, () => undefined).apiKey !== null;

/** The id of a known chain's name or number. */
const knownChain = (flag: string): number => chainOf(flag, { chains: [] });

const indent = '      ';

export function initText(
  { file, chains, unknown_chains: unknown }: Written,
  look: Look,
  {
    hasKey: isKeySet,
    commandLine,
  }: { readonly hasKey: boolean; readonly commandLine: CommandLine },
): string {
  const width = Math.min(look.columns, mostProse);
  const named = chains.map((id) =>
    unknown.includes(id) ? String(id) : `${chainName(id)} (${id})`,
  );
  const steps = [
    ...(isKeySet ? [] : [['export EXPLORER_API_KEY=…', 'your key; not in the file']]),
    [commandLine('explorer-etl check'), 'tests file, database and key'],
    [commandLine('explorer-etl plan'), 'estimates the cost'],
    [commandLine('explorer-etl sync'), 'reads what is there'],
  ];
  const next = columns(
    { ...look, columns: look.columns - indent.length },
    {
      rows: steps.map(([command = '', what = '']) => [paint(look, 'command', command), what]),
      flexible: 1,
    },
  );
  return [
    ...wrap(printable(`Wrote ${file}: ${named.join(', ')}.`), width, 2),
    ...next.map((line, at) => `${at === 0 ? 'Next  ' : indent}${line}`),
    '',
  ].join('\n');
}

function unknownText(unknown: readonly number[], commandLine: CommandLine): string {
  const [chain, them] = unknown.length === 1 ? ['chain', 'it'] : ['chains', 'them'];
  const check = commandLine('explorer-etl check');
  return `Not known to explorer-etl: ${chain} ${unknown.join(', ')}. The explorer may not serve ${them}. To test it: ${check}\n`;
}
