/** A chain that the explorer serves, as of autumn 2026. */
interface KnownChain {
  readonly name: string;
  /** Whether blocks come in Optimism batches, which other chains answer with 400. */
  readonly hasOptimismBatches: boolean;
}

const rollup = (name: string): KnownChain => ({ name, hasOptimismBatches: true });
const other = (name: string): KnownChain => ({ name, hasOptimismBatches: false });

/** Names for the numbers that people use; any other chain works too, under its number. */
const knownChains: ReadonlyMap<number, KnownChain> = new Map([
  [1, other('ethereum')],
  [10, rollup('optimism')],
  [30, other('rootstock')],
  [100, other('gnosis')],
  [130, rollup('unichain')],
  [137, other('polygon')],
  [324, other('zksync')],
  [480, rollup('world-chain')],
  [1135, rollup('lisk')],
  [1868, rollup('soneium')],
  [7777777, rollup('zora')],
  [8453, rollup('base')],
  [34443, rollup('mode')],
  [42161, other('arbitrum')],
  [42220, rollup('celo')],
  [57073, rollup('ink')],
  [84532, rollup('base-sepolia')],
  [421614, other('arbitrum-sepolia')],
  [534352, other('scroll')],
  [11155111, other('sepolia')],
  [11155420, rollup('optimism-sepolia')],
]);

/** The usual name of a chain, `chain-<id>` for one not known here. */
export const chainName = (id: number): string => knownChains.get(id)?.name ?? `chain-${id}`;

/** The names of the chains that are known here, each with its number. */
export const knownChainNames: readonly { readonly id: number; readonly name: string }[] = [
  ...knownChains,
].map(([id, { name }]) => ({ id, name }));

/** Whether a chain is known here; another one may be served all the same. */
export const isKnownChain = (id: number): boolean => knownChains.has(id);

/** Whether a chain is known to have Optimism batches. */
export const hasOptimismBatches = (id: number): boolean =>
  knownChains.get(id)?.hasOptimismBatches === true;

/** Whether a chain is known to have no Optimism batches, so that asking for them is futile. */
export const lacksOptimismBatches = (id: number): boolean =>
  knownChains.get(id)?.hasOptimismBatches === false;
