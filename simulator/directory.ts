import type { AddressFacts } from './address-facts.ts';
import type { SimulatedChain } from './chain.ts';
import type { MetadataTag } from './miner-facts.ts';
import { plausibleAccount } from './plausible-address.ts';
import { Random, type Stream } from './random.ts';

/** The addresses that everyone knows on a chain which lives by the calendar. */
export interface Directory {
  /** The factories, the one with the most accounts last. */
  readonly factories: readonly string[];
  /** Those who send most, the busiest first. */
  readonly senders: readonly string[];
  /** What is known of each of them, and of the contracts that every chain has. */
  readonly facts: ReadonlyMap<string, AddressFacts>;
}

/** The singleton contracts of ERC-4337, from the releases of eth-infinitism/account-abstraction. */
export const entryPoints = [
  { version: 'v0.6', hash: '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789' },
  { version: 'v0.7', hash: '0x0000000071727de22e5e9d8baf0edac6f37da032' },
  { version: 'v0.8', hash: '0x4337084d9e255ff0702461cf8895ce9e3b5ff108' },
  { version: 'v0.9', hash: '0x433709009b8330fda32311df1c2afa402ed8d009' },
] as const;

/** Who mines every block of an OP Stack chain, and the code behind it. */
export const feeVault = '0x4200000000000000000000000000000000000011';
const feeVaultCode = '0xc0d3c0d3c0d3c0d3c0d3c0d3c0d3c0d3c0d30011';

/** The tags of the fee vault, the only address of such a chain that blocks show as miner. */
export const feeVaultTags: readonly MetadataTag[] = [
  {
    slug: 'sequencer-fee-vault',
    name: 'Sequencer Fee Vault',
    tagType: 'name',
    ordinal: 10,
    meta: { tooltipDescription: 'Collects the fees of the sequencer' },
  },
  { slug: 'op-stack', name: 'OP Stack', tagType: 'protocol', ordinal: 5, meta: null },
  {
    slug: 'predeploy',
    name: 'Predeploy',
    tagType: 'generic',
    ordinal: 0,
    meta: { bgColor: '#ff0420', textColor: '#ffffff' },
  },
];

/** Factories by name, the largest first; the others have none. */
const factoryNames = [
  'Safe Proxy Factory',
  'Kernel Factory',
  'LightAccount Factory',
  'SimpleAccountFactory',
  'Smart Wallet Factory',
  'Nexus Account Factory',
  'Modular Account Factory',
  'Harbor Wallet Factory',
  'Multi Owner LightAccount Factory',
  'Passkey Account Factory',
  'Kernel Factory Staker',
  'Lumen Account Factory',
  'SimpleAccountFactory v0.8',
  'Session Key Account Factory',
  'Arcade Games: Wallet Factory',
  'Social Recovery Wallet Factory',
  'Beacon Account Factory',
  'WebAuthn Account Factory',
  'Postcard Wallet Factory',
  'Tipjar Account Factory',
] as const;

/** Companies are invented: what they are seen to do here is too. */
const senderNames = [
  'Basalt Exchange: Hot Wallet 2',
  'Pelican: Bundler 1',
  'Tollgate: Verifying Paymaster',
  'Arcade Games: Session Hub',
  'Kiosk Exchange: Withdrawals',
  'Pelican: Bundler 4',
  'Swiftbridge: Filler',
  'Lumen Wallet: Relayer',
  'Tollgate: ERC-20 Paymaster',
  'Mosaic DEX: Order Executor',
  'Harbor: Paymaster',
  'Basalt Exchange: Deposits',
] as const;

/**
 * The directory of a chain. Takes memory for each of its factories.
 *
 * @param accounts what all accounts of the chain are drawn from
 */
export function createDirectory(
  { factories }: SimulatedChain,
  stream: Stream,
  accounts: Stream,
): Directory {
  const address = (index: number) => new Random(stream, index).hex(5);
  const senders = senderNames.map((_, rank) => address(rank));
  const ranked = Array.from({ length: factories }, (_, rank) => address(senderNames.length + rank));
  const facts = [
    ...entryPoints.map(({ hash, version }) => contract(hash, `EntryPoint ${version}`)),
    {
      ...contract(feeVault, 'SequencerFeeVault'),
      proxyType: 'eip1967',
      implementations: [{ hash: feeVaultCode, name: 'SequencerFeeVault' }],
    },
    ...senders.map((hash, rank) => ({
      ...plausibleAccount(hash, accounts),
      name: senderNames[rank] ?? null,
      isContract: true,
      isVerified: true,
    })),
    ...ranked.map((hash, rank) => contract(hash, factoryNames[rank] ?? null)),
  ];
  return {
    factories: ranked.toReversed(),
    senders,
    facts: new Map(facts.map((fact) => [fact.hash, fact])),
  };
}

/** A contract; what has a name has published its source. */
function contract(hash: string, name: string | null): AddressFacts {
  return {
    hash,
    name,
    hasNul: false,
    isContract: true,
    isVerified: name !== null,
    proxyType: null,
    implementations: [],
    extra: null,
  };
}
