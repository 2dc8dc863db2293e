import { settingsOf } from '../lists/index.ts';
import type { FeedSettings } from '../lists/settings.ts';
import { operationNames, operations, type OperationName } from '../operations/index.ts';
import { chainName, type ChainFacts } from '../chains.ts';
import { findChain } from './chain-flag.ts';
import { nearest } from './nearest.ts';
import type { Config } from './schema.ts';
import type { ChainSettings } from './settings.ts';

type ListedChain = NonNullable<Config['chains']>[number];
type Report = (message: string) => void;

/** What the flags ask for; empty means all that is configured. */
export interface Selection {
  readonly chains: readonly string[];
  readonly operations: readonly string[];
}

/**
 * The chains and operations to work on: of those that the file lists, the ones selected; where
 * it lists none, the selected chains with all operations and the defaults.
 */
export function selectChains(
  listed: readonly ListedChain[],
  selection: Selection,
  report: Report,
): ChainSettings[] {
  const ids = chainIds(selection.chains, listed, report);
  const named = chosenOperations(selection.operations, report);
  const names = named.length > 0 ? named : operationNames;
  if (listed.length === 0) return ids.map((id) => settings({ id }, named));
  const missing = ids.filter((id) => !listed.some((chain) => chain.id === id));
  for (const id of missing) {
    const known = listed.map((chain) => `${chain.id} (${chain.name ?? chainName(chain.id)})`);
    const flag = selection.chains.find((chain) => idOf(chain, listed) === id) ?? id;
    report(`--chain ${flag}: not in the configuration, which lists ${known.join(', ')}`);
  }
  const chains = listed
    .filter((chain) => ids.length === 0 || ids.includes(chain.id))
    .map((chain) => settings(chain, named));
  const offered = operationNames.filter((name) => chains.some((chain) => name in chain.operations));
  for (const name of names.filter((wanted) => selection.operations.includes(wanted))) {
    if (offered.includes(name) || chains.length === 0) continue;
    report(
      `--operation ${name}: not configured for these chains, which have ${offered.join(', ')}`,
    );
  }
  return chains
    .map((chain) => ({ ...chain, operations: pick(chain.operations, names) }))
    .filter((chain) => Object.keys(chain.operations).length > 0);
}

function chainIds(
  flags: readonly string[],
  listed: readonly ListedChain[],
  report: Report,
): number[] {
  const ids = new Set<number>();
  for (const flag of flags) {
    const found = findChain(flag, listed);
    if ('problem' in found) report(found.problem);
    else ids.add(found.id);
  }
  return [...ids];
}

function idOf(flag: string, listed: readonly ListedChain[]): number | null {
  const found = findChain(flag, listed);
  return 'id' in found ? found.id : null;
}

function chosenOperations(flags: readonly string[], report: Report): readonly OperationName[] {
  for (const flag of flags.filter((name) => !isOperation(name))) {
    const guess = nearest(flag, operationNames);
    const advice =
      guess === null ? `there are ${operationNames.join(', ')}` : `did you mean ${guess}?`;
    report(`--operation ${flag}: no such operation; ${advice}`);
  }
  return operationNames.filter((name) => flags.includes(name));
}

const isOperation = (name: string): name is OperationName =>
  (operationNames as readonly string[]).includes(name);

/** @param named the operations that a person wants, whatever is usual for the chain */
function settings(
  chain: Partial<ListedChain> & Pick<ListedChain, 'id'>,
  named: readonly OperationName[],
): ChainSettings {
  const chosen: Readonly<Record<string, FeedSettings | null | undefined>> | undefined =
    chain.operations;
  const isUsual = (name: OperationName) =>
    named.length > 0 ? named.includes(name) : operations[name].isOffered(chain.id);
  const present = operationNames.filter((name) =>
    chosen === undefined ? isUsual(name) : name in chosen,
  );
  return {
    id: chain.id,
    name: chain.name ?? chainName(chain.id),
    ...(chain.key !== undefined && { key: chain.key }),
    ...facts(chain),
    operations: Object.fromEntries(
      present.map((name) => [name, chosen?.[name] ?? settingsOf(name).parse({})]),
    ),
  };
}

/** What the file says of the chain's currency and explorer. */
const facts = (chain: Partial<ListedChain>): Partial<ChainFacts> => ({
  ...(chain.native_symbol !== undefined && { nativeSymbol: chain.native_symbol }),
  ...(chain.native_decimals !== undefined && { nativeDecimals: chain.native_decimals }),
  ...(chain.explorer_url !== undefined && {
    explorerUrl: chain.explorer_url.replace(/\/+$/u, ''),
  }),
});

function pick(
  from: ChainSettings['operations'],
  names: readonly OperationName[],
): ChainSettings['operations'] {
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));
}
