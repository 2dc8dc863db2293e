import { chainName, knownChainNames } from '../chains.ts';
import { nearest } from './nearest.ts';

/** A chain of the configuration; without a name it has the usual one. */
export interface ListedChain {
  readonly id: number;
  readonly name?: string | undefined;
}

/** The chain that a flag names, or what is wrong with it. */
export type FoundChain = { readonly id: number } | { readonly problem: string };

/**
 * The chain that `--chain` means: a number, or a name. The names of the configuration go before the usual ones.
 *
 * @param flag as typed
 * @param listed the chains of the configuration; none where there is no file
 */
export function findChain(flag: string, listed: readonly ListedChain[]): FoundChain {
  if (/^\d/u.test(flag)) {
    const id = /^\d{1,16}$/u.test(flag) ? Number(flag) : Number.NaN;
    return Number.isSafeInteger(id) && id > 0
      ? { id }
      : {
          problem: `--chain ${flag}: not a chain's number, such as 10; repeat --chain for several`,
        };
  }
  const named = listed.map(({ id, name }) => ({ id, name: name ?? chainName(id) }));
  for (const chains of [named, knownChainNames]) {
    const [first, other] = chains.filter(({ name }) => plain(name) === plain(flag));
    if (other !== undefined) {
      return {
        problem: `--chain ${flag}: several chains of the configuration have this name; take the number, such as ${first?.id}`,
      };
    }
    if (first !== undefined) return { id: first.id };
  }
  return { problem: `--chain ${flag}: no chain has this name; ${adviceFor(flag, named)}` };
}

type Named = ListedChain & { readonly name: string };

function adviceFor(flag: string, listed: readonly Named[]): string {
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

/** People write World Chain, world-chain and worldchain. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_ ]/gu, '');
