import { type ChainFacts, chainName, knownChainNames } from '../chains.ts';
import { settingsOf } from '../lists/index.ts';
import { type OperationName, operationNames, operations } from '../lists/registry.ts';
import type { FeedSettings } from '../lists/list.ts';
import { nearest, plain } from './nearest.ts';
import type { Config } from './schema.ts';

/** Only the facts that the file states. */
export interface ChainSettings extends Partial<ChainFacts> {
  readonly id: number;
  readonly name: string;
  /** The name of its key; absent: EXPLORER_API_KEY. */
  readonly key?: string;
  /** The operations to copy. */
  readonly operations: Readonly<Partial<Record<OperationName, FeedSettings>>>;
}

type ListedChain = NonNullable<Config['chains']>[number];
type Report = (message: string) => void;

/**
 * The selected ones of the file's chains and operations; without any in the file, the selected chains with all
 * operations and defaults. An empty selection means all that is configured.
 */
export function selectChains(
  listed: readonly ListedChain[],
  selection: { readonly chains: readonly string[]; readonly operations: readonly string[] },
  report: Report,
): ChainSettings[] {
  const flags = chainFlags(selection.chains, listed, report);
  const ids = [...flags.keys()];
  const named = operationNames.filter((name) => selection.operations.includes(name));
  if (listed.length === 0) return ids.map((id) => settings({ id }, named));
  const missing = ids.filter((id) => !listed.some((chain) => chain.id === id));
  for (const id of missing) {
    const known = listed.map((chain) => `${chain.id} (${chain.name ?? chainName(chain.id)})`);
    report(`--chain ${flags.get(id)}: not in the configuration, which lists ${known.join(', ')}`);
  }
  const chosen = listed.filter((chain) => ids.length === 0 || ids.includes(chain.id));
  const has = operationNames.filter((name) => chosen.some((chain) => isOf(chain, name, named)));
  for (const name of named.filter((wanted) => chosen.length > 0 && !has.includes(wanted))) {
    report(`--operation ${name}: not configured for these chains, which have ${has.join(', ')}`);
  }
  return chosen
    .map((chain) => settings(chain, named))
    .filter((chain) => Object.keys(chain.operations).length > 0);
}

/** The chains of the flags, each with its first flag. */
function chainFlags(
  flags: readonly string[],
  listed: readonly ListedChain[],
  report: Report,
): ReadonlyMap<number, string> {
  const chains = new Map<number, string>();
  for (const flag of flags) {
    const found = findChain(flag, listed);
    if ('problem' in found) report(found.problem);
    else if (!chains.has(found.id)) chains.set(found.id, flag);
  }
  return chains;
}

type SelectedChain = Partial<ListedChain> & Pick<ListedChain, 'id'>;

/** Whether the file lists an operation of a chain; if it lists none, what is `named` or usual for the chain counts. */
function isOf(chain: SelectedChain, name: OperationName, named: readonly OperationName[]): boolean {
  if (chain.operations !== undefined) return name in chain.operations;
  return named.length > 0 ? named.includes(name) : operations[name].offer(chain.id) === 'usual';
}

/** `named`: the operations that the user wants; none: all. */
function settings(chain: SelectedChain, named: readonly OperationName[]): ChainSettings {
  const chosen: Readonly<Record<string, FeedSettings | null | undefined>> = chain.operations ?? {};
  const present = operationNames
    .filter((name) => named.length === 0 || named.includes(name))
    .filter((name) => isOf(chain, name, named));
  return {
    id: chain.id,
    name: chain.name ?? chainName(chain.id),
    ...(chain.key !== undefined && { key: chain.key }),
    ...facts(chain),
    operations: Object.fromEntries(
      present.map((name) => [name, chosen[name] ?? settingsOf(name).parse({})]),
    ),
  };
}

/** The file's facts of the chain. */
const facts = (chain: Partial<ListedChain>): Partial<ChainFacts> => ({
  ...(chain.native_symbol !== undefined && { nativeSymbol: chain.native_symbol }),
  ...(chain.native_decimals !== undefined && { nativeDecimals: chain.native_decimals }),
  ...(chain.explorer_url !== undefined && {
    explorerUrl: chain.explorer_url.replace(/\/+$/u, ''),
  }),
});

/**
 * The chain of a `--chain` flag (number or name), or what is wrong with the flag. Names of the configuration take
 * precedence over the usual ones.
 */
export function findChain(
  flag: string,
  listed: readonly Pick<ListedChain, 'id' | 'name'>[],
): { readonly id: number } | { readonly problem: string } {
  if (/^\d/u.test(flag)) {
    const id = /^\d{1,16}$/u.test(flag) ? Number(flag) : Number.NaN;
    if (Number.isSafeInteger(id) && id > 0) return { id };
    return {
      problem: `--chain ${flag}: not a chain's number, such as 10; repeat --chain for several`,
    };
  }
  const named = listed.map(({ id, name }) => ({ id, name: name ?? chainName(id) }));
  for (const chains of [named, knownChainNames]) {
    const [first, other] = chains.filter(({ name }) => plain(name) === plain(flag));
    if (other !== undefined) {
      return {
        problem: `--chain ${flag}: several chains have this name; take the number, such as ${first?.id}`,
      };
    }
    if (first !== undefined) return { id: first.id };
  }
  return { problem: `--chain ${flag}: no chain has this name; ${adviceFor(flag, named)}` };
}

type Named = Pick<ChainSettings, 'id' | 'name'>;

/** Chains under a name that is another's, usually or in the explorer's directory, each as a sentence. */
export const misnamed = (chains: readonly Named[], served: readonly Named[] = []): string[] =>
  chains.flatMap(({ id, name }) => {
    const isSame = (other: Named) => plain(other.name) === plain(name);
    const usual = knownChainNames.filter(isSame);
    const owners = usual.length > 0 ? usual : served.filter(isSame);
    if (owners.length === 0 || owners.some((owner) => owner.id === id)) return [];
    return [`Chain ${id} is named ${name}, which is chain ${owners[0]?.id}.`];
  });

function adviceFor(flag: string, listed: typeof knownChainNames): string {
  const all = [...listed, ...knownChainNames];
  const near = nearest(
    flag,
    all.map(({ name }) => name),
  );
  const guess = all.find(({ name }) => name === near);
  if (guess !== undefined) return `did you mean ${guess.name} (${guess.id})?`;
  const names = (listed.length > 0 ? listed : knownChainNames).map(({ name }) => name);
  return `there are ${names.join(', ')}; any other goes by its number, such as 10 for optimism`;
}
