import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { chainName, knownChainNames, knownChains } from '../chains.ts';
import { readEnvironment } from '../config/environment.ts';
import { configFileName, defaultBaseUrl } from '../config/load.ts';
import { exposureOf, schemaUrl } from '../config/schema.ts';
import { misnamed } from '../config/select.ts';
import { readDirectory, type ServedChain } from '../explorer/directory.ts';
import { isBoundedBy } from '../lists/index.ts';
import { operationNames, operations } from '../lists/registry.ts';
import { type Look, nextLine, prose } from '../terminal/layout.ts';
import { type CommandLine, type Context, type Registry, UsageError } from './context.ts';
import { askForChoice, demandMeant, freePlan, terminalOf, usualChain } from './dialogue.ts';
import { addFeedOptions, addFlags, allHistory, chainOf, type ChosenFeeds } from './options.ts';

export const initDocument = z.strictObject({
  schema: z.literal('explorer-etl/init/1'),
  file: z.string(),
  chains: z.array(z.int()),
  /** Not in the explorer's directory or, if that gave no answer, not known to this program. */
  unknown_chains: z.array(z.int()),
});

/** `init`: writes a first configuration file. Never overwrites one. */
export function register({ command, run, explain }: Registry): void {
  addFlags(addFeedOptions(command), 'since').action(run(init));
  explain(
    ['explorer-etl init --chain optimism', 'explorer-etl init --chain 10 --chain base --since 7d'],
    `--since is where the history of lists in order of time begins, as a date in the file.
Without flags, it prompts on a terminal; otherwise it takes ${chainName(usualChain)} and the usual operations.`,
  );
}

async function init(context: Context, options: ChosenFeeds & { readonly since?: string }) {
  const file = context.config ?? configFileName;
  const path = resolve(context.cwd, file);
  if (existsSync(path)) {
    throw new UsageError(`${file} exists already and was left as it is. Edit or remove it.`);
  }
  const { chain, operation, since = allHistory } = options;
  const { signal, commandLine } = context;
  // Commands that use the key validate it.
  const { apiKey, baseUrl, proxy } = readEnvironment(context.env, context.cwd, () => undefined);
  const served = await readDirectory({ baseUrl: baseUrl ?? defaultBaseUrl, proxy }, signal);
  const own = served.map(({ id }) => ({ id, name: nameOf(id, served) }));
  const named = own.length > 0 ? own : knownChainNames;
  const terminal = terminalOf(context);
  const choice =
    terminal !== null && (chain ?? operation) === undefined
      ? await askForChoice(terminal, named, { since, signal })
      : {
          chains: [...new Set(chain?.map((flag) => chainOf(flag, served)) ?? [usualChain])],
          lists: operation ?? null,
          since,
        };
  const { chains, lists } = choice;
  const wanted = operationNames.filter((name) => lists?.includes(name) ?? true);
  // For a list that a chain does not have, an example is empty or a comment.
  const bare = chains.find((id) =>
    wanted.every((name) => !/^ {6}\w/mu.test(operations[name].guide.example(id))),
  );
  if (bare !== undefined) {
    throw new UsageError(
      `init can write none of ${wanted.join(', ')} for chain ${bare}: leave the chain out, or name another list.`,
    );
  }
  const claimed = served.filter(({ id }) => chains.includes(id));
  await demandMeant(misnamed(claimed), terminal, signal);
  const unknown = chains.filter((id) => !named.some((one) => one.id === id));
  writeFileSync(path, exampleConfig(chains, { ...choice, served: claimed }), { flag: 'wx' });
  if (unknown.length > 0) {
    const whose = served.length > 0 ? "in the explorer's directory" : 'known to explorer-etl';
    context.warn(
      `Not ${whose}: chain ${unknown.join(', ')}. To test whether the explorer serves it: ${commandLine('explorer-etl check')}`,
    );
  }
  const fields = { file, chains, unknown_chains: unknown };
  const exposure = exposureOf(baseUrl ?? '');
  if (exposure !== null) context.warn(`EXPLORER_BASE_URL: ${exposure}.`);
  const written = { file, chains: chains.map((id) => `${nameOf(id, served)} (${id})`) };
  const text = initText(written, context.out, { hasKey: apiKey !== null, commandLine });
  return context.print(initDocument, fields, text);
}

/** The usual name of a chain, else that of the explorer's directory. */
const nameOf = (id: number, served: readonly ServedChain[]): string =>
  knownChains.get(id)?.name ?? served.find((one) => one.id === id)?.name ?? chainName(id);

export function initText(
  { file, chains }: { readonly file: string; readonly chains: readonly string[] },
  look: Look,
  { hasKey, commandLine }: { readonly hasKey: boolean; readonly commandLine: CommandLine },
): string {
  const check = commandLine('explorer-etl check');
  return [
    ...prose(look, `Wrote ${file}: ${chains.join(', ')}.`),
    '',
    nextLine(look, hasKey ? check : `export EXPLORER_API_KEY=… && ${check}`),
    '',
  ].join('\n');
}

interface Example {
  /** Null: the usual ones, and as comments those that are mirrored only if they are named. */
  readonly lists?: readonly string[] | null;
  readonly plan?: { readonly rate: number; readonly credits: number | null };
  readonly since?: string;
  /** What the explorer's directory has of the chains, which the file keeps if this program does not know them. */
  readonly served?: readonly ServedChain[];
}

/** The text of a first explorer-etl.yaml: the defaults with their cost, for distinct ids. */
export function exampleConfig(ids: readonly number[], example: Example = {}): string {
  const { rate, credits } = example.plan ?? freePlan;
  return `# yaml-language-server: $schema=${schemaUrl()}
#
# What explorer-etl mirrors, and how often. Your API key does not belong here: set
# EXPLORER_API_KEY in the environment. Each page costs 20 credits; the free plan has 100,000
# credits a day, which is 5,000 pages of 50 items.

# deployment: production # a container needs a name; else that of the machine and this file's path

explorer:
  requests_per_second: ${rate} # what the ${rate === freePlan.rate ? 'free' : 'paid'} plan allows
  # All requests of a UTC day together cost no more. A fifth is kept for new data, so that history
  # cannot use up the day. With a larger plan, raise it or remove it.
  ${credits === null ? '# ' : ''}daily_credits: ${credits ?? freePlan.credits}${credits === freePlan.credits ? ' # what the free plan gives' : ''}
  page_size: 50 # a page costs the same whatever its size
  # archive: all # keep every page's body (3 to 13 KB each), so that replay can decode it again
  # archive_days: 90 # for so long; without it for ever
  # ledger_days: 90 # keep polls that brought nothing for so long; without it for ever

${ids.length === 0 ? 'chains: []\n' : `chains:\n${ids.map((id) => exampleChain(id, example)).join('\n')}`}`;
}

function exampleChain(
  id: number,
  { lists = null, since = allHistory, served = [] }: Example,
): string {
  const site = served.find((one) => one.id === id && !knownChains.has(id))?.explorerUrl;
  const facts = { name: nameOf(id, served), ...(site !== undefined && { explorer_url: site }) };
  const written = operationNames
    .filter((name) => lists?.includes(name) ?? true)
    .map((name) => {
      const { guide, offer } = operations[name];
      const isOff = lists === null && offer(id) === 'if-named';
      const example = withSince(guide.example(id), isBoundedBy(name, 'since') ? since : allHistory);
      return isOff ? example.replaceAll(/^ {6}(?!#)/gmu, '      # ') : example;
    });
  return `  - id: ${id}
${stringify(facts).replaceAll(/^/gmu, '    ').trimEnd()}
    operations:
${written.join('')}`;
}

/** The lines of a list with the time at which its history begins. A midnight is written as its date. */
function withSince(example: string, since: string): string {
  if (since === allHistory || example === '') return example;
  const rest = example.replace(/^ {8}# since: .*\n/mu, '');
  return `${rest}        since: ${since.replace('T00:00:00.000Z', '')} # older ones are left\n`;
}
