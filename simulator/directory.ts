import type { Draw } from './random.ts';

/** What the explorer knows of an address, fixed by its hash. */
export interface AddressFacts {
  readonly hash: string;
  /** Scalars under the contract's names, in the order in which the service prints them. */
  readonly fields: {
    readonly name: string | null;
    readonly is_contract: boolean | null;
    readonly is_scam: false;
    readonly is_verified: boolean | null;
    readonly proxy_type: string | null;
    readonly reputation: 'ok';
  };
  /** The service prints a NUL character inside the name. */
  readonly hasNul: boolean;
  readonly implementations: readonly { readonly hash: string; readonly name: string | null }[];
  /** Members of the object that the contract does not list. */
  readonly extra: Readonly<Record<string, unknown>> | null;
}

/** The well-known addresses of a chain that lives by the calendar. */
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

/** A text as a list: what its commas part. */
export const listOf = (text: string): readonly string[] => text.trim().split(/,\s+/u);

/** Factories by name, the largest first; the others have none. */
const factoryNames = listOf(`
  Safe Proxy Factory, Kernel Factory, LightAccount Factory, SimpleAccountFactory,
  Smart Wallet Factory, Nexus Account Factory, Modular Account Factory, Harbor Wallet Factory,
  Multi Owner LightAccount Factory, Passkey Account Factory, Kernel Factory Staker,
  Lumen Account Factory, SimpleAccountFactory v0.8, Session Key Account Factory,
  Arcade Games: Wallet Factory, Social Recovery Wallet Factory, Beacon Account Factory,
  WebAuthn Account Factory, Postcard Wallet Factory, Tipjar Account Factory`);

/** Companies are invented: what they are seen to do here is too. */
const senderNames = listOf(`
  Basalt Exchange: Hot Wallet 2, Pelican: Bundler 1, Tollgate: Verifying Paymaster,
  Arcade Games: Session Hub, Kiosk Exchange: Withdrawals, Pelican: Bundler 4,
  Swiftbridge: Filler, Lumen Wallet: Relayer, Tollgate: ERC-20 Paymaster,
  Mosaic DEX: Order Executor, Harbor: Paymaster, Basalt Exchange: Deposits`);

/** The directory of a chain. Takes memory for each of its factories. */
export function createDirectory(factories: number, draw: Draw): Directory {
  const address = (index: number) => draw('directory', index).hex(5);
  const senders = senderNames.map((_, rank) => address(rank));
  const ranked = Array.from({ length: factories }, (_, rank) => address(senderNames.length + rank));
  const vault = contract(feeVault, 'SequencerFeeVault');
  const facts = [
    ...entryPoints.map(({ hash, version }) => contract(hash, `EntryPoint ${version}`)),
    {
      ...vault,
      fields: { ...vault.fields, proxy_type: 'eip1967' },
      implementations: [{ hash: feeVaultCode, name: 'SequencerFeeVault' }],
    },
    ...senders.map((hash, rank) => {
      const account = accountFacts(hash, draw);
      const name = senderNames[rank] ?? null;
      return {
        ...account,
        fields: { ...account.fields, name, is_contract: true, is_verified: true },
      };
    }),
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
    fields: {
      name,
      is_contract: true,
      is_scam: false,
      is_verified: name !== null,
      proxy_type: null,
      reputation: 'ok',
    },
    hasNul: false,
    implementations: [],
    extra: null,
  };
}

/** The kinds of smart accounts, by how many of them there are; code is that of their proxies. */
const accounts = [
  { proxy: 'SafeProxy', type: 'master_copy', code: 'SafeL2' },
  { proxy: 'SafeProxy', type: 'master_copy', code: 'SafeL2' },
  { proxy: 'ERC1967Proxy', type: 'eip1967', code: 'Kernel' },
  { proxy: 'ERC1967Proxy', type: 'eip1967', code: 'Kernel' },
  { proxy: 'ERC1967Proxy', type: 'eip1967', code: 'LightAccount' },
  { proxy: 'ERC1967Proxy', type: 'eip1967', code: 'SimpleAccount' },
  { proxy: null, type: 'erc7760', code: 'ModularAccount' },
  { proxy: null, type: 'eip1167', code: 'Nexus' },
  { proxy: null, type: 'eip7702', code: 'EIP7702StatelessDeleGator' },
] as const;

/** Every how many accounts one has sent operations, and is not deployed. */
const undeployedEvery = 12;

/** What is known of a user's account, fixed by its hash. Accounts of a kind share their code. */
export function accountFacts(hash: string, draw: Draw): AddressFacts {
  const random = draw('address-facts', Number.parseInt(hash.slice(-8), 16));
  const isDeployed = !random.oneIn(undeployedEvery);
  const { proxy, type, code } = random.pick(accounts);
  const isVerified = isDeployed && proxy !== null && !random.oneIn(4);
  const kind = accounts.findIndex((account) => account.code === code);
  const implementation = { hash: draw('address-facts', kind).hex(5), name: code };
  const known = contract(hash, isVerified ? proxy : null);
  return {
    ...known,
    fields: { ...known.fields, is_contract: isDeployed, proxy_type: isDeployed ? type : null },
    implementations: isDeployed ? [implementation] : [],
  };
}
