export interface ChainFacts {
  /** Null: not known. */
  readonly nativeSymbol: string | null;
  /** An amount of 1 is 10 to the power of so many wei. */
  readonly nativeDecimals: number;
  /** Where people view the chain, without a trailing slash; null: not known. */
  readonly explorerUrl: string | null;
}

/** A chain that the explorer serves (autumn 2026). */
interface KnownChain {
  readonly name: string;
  /** Whether blocks come in Optimism batches; other chains answer with 400. */
  readonly hasOptimismBatches: boolean;
  readonly nativeSymbol: string;
  readonly explorerUrl: string;
}

const chain =
  (hasOptimismBatches: boolean) =>
  (name: string, explorerHost: string, nativeSymbol = 'ETH'): KnownChain => ({
    name,
    hasOptimismBatches,
    nativeSymbol,
    explorerUrl: `https://${explorerHost}`,
  });
const [rollup, other] = [chain(true), chain(false)];

/** EVM chains count gas in units of 10^-18; others are configured. */
const usualDecimals = 18;

/** As wallets name it: test ether is worth nothing and must not be added to ether. */
const testEther = 'SepoliaETH';

/** Names for numbers in use; any other chain works under its number. */
export const knownChains: ReadonlyMap<number, KnownChain> = new Map([
  [1, other('ethereum', 'eth.blockscout.com')],
  [10, rollup('optimism', 'explorer.optimism.io')],
  [30, other('rootstock', 'rootstock.blockscout.com', 'RBTC')],
  [100, other('gnosis', 'gnosis.blockscout.com', 'XDAI')],
  [130, rollup('unichain', 'unichain.blockscout.com')],
  [137, other('polygon', 'polygon.blockscout.com', 'POL')],
  [324, other('zksync', 'zksync.blockscout.com')],
  [480, rollup('world-chain', 'worldchain-mainnet.explorer.alchemy.com')],
  [1135, rollup('lisk', 'blockscout.lisk.com')],
  [1868, rollup('soneium', 'soneium.blockscout.com')],
  [7777777, rollup('zora', 'explorer.zora.energy')],
  [8453, rollup('base', 'base.blockscout.com')],
  [34443, rollup('mode', 'explorer.mode.network')],
  [42161, other('arbitrum', 'arbitrum.blockscout.com')],
  [42220, rollup('celo', 'celo.blockscout.com', 'CELO')],
  [57073, rollup('ink', 'explorer.inkonchain.com')],
  [84532, rollup('base-sepolia', 'base-sepolia.blockscout.com', testEther)],
  [421614, other('arbitrum-sepolia', 'arbitrum-sepolia.blockscout.com', testEther)],
  [534352, other('scroll', 'scroll.blockscout.com')],
  [11155111, other('sepolia', 'eth-sepolia.blockscout.com', testEther)],
  [11155420, rollup('optimism-sepolia', 'testnet-explorer.optimism.io', testEther)],
]);

/** Given facts, else the known ones. */
export function chainFacts(id: number, given: Partial<ChainFacts>): ChainFacts {
  const known = knownChains.get(id);
  return {
    nativeSymbol: given.nativeSymbol ?? known?.nativeSymbol ?? null,
    nativeDecimals: given.nativeDecimals ?? usualDecimals,
    explorerUrl: given.explorerUrl ?? known?.explorerUrl ?? null,
  };
}

/** The usual name of a chain, or `chain-<id>`. */
export const chainName = (id: number): string => knownChains.get(id)?.name ?? `chain-${id}`;

export const knownChainNames: readonly { readonly id: number; readonly name: string }[] = [
  ...knownChains,
].map(([id, { name }]) => ({ id, name }));
