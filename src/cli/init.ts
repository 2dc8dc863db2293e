import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { isCancel, multiselect } from '@clack/prompts';
import { z } from 'zod';
import { chainName, knownChainNames, knownChains } from '../chains.ts';
import { readEnvironment } from '../config/environment.ts';
import { configFileName } from '../config/load.ts';
import { exposureOf, schemaUrl } from '../config/schema.ts';
import { isBoundedBy } from '../lists/index.ts';
import type { ScopeBounds } from '../lists/list.ts';
import { type OperationName, operationNames, operations } from '../lists/registry.ts';
import { type Look, nextLines, prose } from '../terminal/layout.ts';
import { type CommandLine, type Context, type Registry, UsageError } from './context.ts';
import { addBounds, addFeedOptions, allHistory, chainOf, type ChosenFeeds } from './options.ts';

export const initDocument = z.strictObject({
  schema: z.literal('explorer-etl/init/1'),
  file: z.string(),
  chains: z.array(z.int()),
  /** Not known to this program; the explorer may not serve them. */
  unknown_chains: z.array(z.int()),
});

/** Optimism has every list. */
const usualChain = 10;

/** `init`: writes a first configuration file. Never overwrites one. */
export function register({ command, run, explain }: Registry): void {
  addBounds(addFeedOptions(command), ['since']).action(run(init));
  explain(
    ['explorer-etl init --chain optimism', 'explorer-etl init --chain 10 --chain base --since 7d'],
    `--since is where the history of lists in order of time begins, as a date in the file.
Without flags, it prompts on a terminal; otherwise it takes ${chainName(usualChain)} and the usual operations.`,
  );
}

async function init(context: Context, options: ChosenFeeds & Pick<ScopeBounds, 'since'>) {
  const file = context.config ?? configFileName;
  const path = resolve(context.cwd, file);
  if (existsSync(path)) {
    throw new UsageError(`${file} exists already and was left as it is. Edit or remove it.`);
  }
  const { chain, operation } = options;
  const since = options.since === allHistory ? null : (options.since ?? null);
  const isAsking = (chain ?? operation) === undefined && !context.json && context.out.isTerminal;
  const { chains, lists } =
    isAsking && process.stdin.isTTY
      ? await askForChoice(process, context.signal)
      : {
          chains: [...new Set(chain?.map((flag) => chainOf(flag, { chains: [] })) ?? [usualChain])],
          lists: operation ?? null,
        };
  const unknown = chains.filter((id) => !knownChains.has(id));
  writeFileSync(path, exampleConfig(chains, lists, since), { flag: 'wx' });
  const commandLine = context.commandLine;
  if (unknown.length > 0) {
    const [what, them] = unknown.length === 1 ? ['chain', 'it'] : ['chains', 'them'];
    context.warn(
      `Not known to explorer-etl: ${what} ${unknown.join(', ')}. The explorer may not serve ${them}. To test it: ${commandLine('explorer-etl check')}`,
    );
  }
  const fields = { file, chains, unknown_chains: unknown };
  // Commands that use the key validate it.
  const { apiKey, baseUrl } = readEnvironment(context.env, context.cwd, () => undefined);
  const hasKey = apiKey !== null;
  const exposure = exposureOf(baseUrl ?? '');
  if (exposure !== null) context.warn(`EXPLORER_BASE_URL: ${exposure}.`);
  const text = initText(fields, context.out, { hasKey, commandLine });
  return context.print(initDocument, fields, text);
}

interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** Asks which chains and lists to mirror. @throws UsageError if a person cancels */
export async function askForChoice({ stdin, stdout }: Terminal, signal: AbortSignal) {
  const how = { input: stdin, output: stdout, signal, maxItems: 10 };
  const chains = await multiselect({
    message: 'Chains',
    options: knownChainNames.map(({ id, name }) => ({ value: id, label: name, hint: String(id) })),
    initialValues: [usualChain],
    cursorAt: usualChain,
    ...how,
  });
  if (isCancel(chains)) throw cancelled();
  const offered = (...offers: readonly string[]) =>
    operationNames.filter((name) =>
      chains.some((id) => offers.includes(operations[name].offer(id))),
    );
  const lists = await multiselect({
    message: 'Lists',
    options: offered('usual', 'if-named').map((value) => ({ value, hint: costOf(value) })),
    initialValues: offered('usual'),
    ...how,
  });
  if (isCancel(lists)) throw cancelled();
  return { chains, lists };
}

/** What the file that is written says above a list's settings. */
function costOf(name: OperationName): string {
  const { guide } = operations[name];
  const comments = guide.example(usualChain).matchAll(/^ {6}# (.*)$/gmu);
  return [guide.about, ...[...comments].map(([, text]) => text)].join(' ');
}

const cancelled = () => new UsageError('nothing was chosen, and nothing was written.');

export function initText(
  { file, chains, unknown_chains: unknown }: Omit<z.infer<typeof initDocument>, 'schema'>,
  look: Look,
  { hasKey, commandLine }: { readonly hasKey: boolean; readonly commandLine: CommandLine },
): string {
  const named = chains.map((id) =>
    unknown.includes(id) ? String(id) : `${chainName(id)} (${id})`,
  );
  return [
    ...prose(look, `Wrote ${file}: ${named.join(', ')}.`),
    ...nextLines(look, [
      ...(hasKey ? [] : [['export EXPLORER_API_KEY=…', 'your key; not in the file'] as const]),
      [commandLine('explorer-etl check'), 'tests file, database and key'],
      [commandLine('explorer-etl plan'), 'estimates the cost'],
      [commandLine('explorer-etl sync'), 'reads what is there'],
    ]),
    '',
  ].join('\n');
}

/**
 * The text of a first explorer-etl.yaml: the defaults with their cost, for distinct ids.
 * @param lists null: the usual ones, and as comments those that are mirrored only if they are named
 * @param since the time at which history begins, in ISO 8601; null: at the beginning
 */
export function exampleConfig(
  chains: readonly number[],
  lists: readonly string[] | null = null,
  since: string | null = null,
): string {
  return `# yaml-language-server: $schema=${schemaUrl()}
#
# What explorer-etl mirrors, and how often. Your API key does not belong here: set
# EXPLORER_API_KEY in the environment. Each page costs 20 credits; the free plan has 100,000
# credits a day, which is 5,000 pages of 50 items.

# deployment: production # a container needs a name; else that of the machine and this file's path

explorer:
  requests_per_second: 5 # what the free plan allows
  # All requests of a UTC day together cost no more. A fifth is kept for new data, so that history
  # cannot use up the day. With a larger plan, raise it or remove it.
  daily_credits: 100000 # what the free plan gives
  page_size: 50 # a page costs the same whatever its size
  # archive: all # keep every page's body (3 to 13 KB each), so that replay can decode it again
  # archive_days: 90 # for so long; without it for ever
  # ledger_days: 90 # keep polls that brought nothing for so long; without it for ever

${chains.length === 0 ? 'chains: []\n' : `chains:\n${chains.map((id) => exampleChain(id, lists, since)).join('\n')}`}`;
}

const exampleChain = (
  id: number,
  lists: readonly string[] | null,
  since: string | null,
): string => `  - id: ${id}
    name: ${chainName(id)}
    operations:
${operationNames
  .filter((name) => lists?.includes(name) ?? true)
  .map((name) => {
    const { guide, offer } = operations[name];
    const isOff = lists === null && offer(id) === 'if-named';
    const example = withSince(guide.example(id), isBoundedBy(name, 'since') ? since : null);
    return isOff ? example.replaceAll(/^ {6}(?!#)/gmu, '      # ') : example;
  })
  .join('')}`;

/** The lines of a list with the time at which its history begins. A midnight is written as its date. */
function withSince(example: string, since: string | null): string {
  if (since === null || example === '') return example;
  const rest = example.replace(/^ {8}# since: .*\n/mu, '');
  return `${rest}        since: ${since.replace('T00:00:00.000Z', '')} # older ones are left\n`;
}
