import type { AddressFacts } from './address-facts.ts';
import { Random, type Stream } from './random.ts';

/** The kinds of smart accounts, by how many of them there are; code is that of their proxies. */
const accounts = [
  { proxy: 'SafeProxy', proxyType: 'master_copy', code: 'SafeL2' },
  { proxy: 'SafeProxy', proxyType: 'master_copy', code: 'SafeL2' },
  { proxy: 'ERC1967Proxy', proxyType: 'eip1967', code: 'Kernel' },
  { proxy: 'ERC1967Proxy', proxyType: 'eip1967', code: 'Kernel' },
  { proxy: 'ERC1967Proxy', proxyType: 'eip1967', code: 'LightAccount' },
  { proxy: 'ERC1967Proxy', proxyType: 'eip1967', code: 'SimpleAccount' },
  { proxy: null, proxyType: 'erc7760', code: 'ModularAccount' },
  { proxy: null, proxyType: 'eip1167', code: 'Nexus' },
  { proxy: null, proxyType: 'eip7702', code: 'EIP7702StatelessDeleGator' },
] as const;

/** Every how many accounts one has sent operations, and is not deployed. */
const undeployedEvery = 12;

/** What is known of a user's account, fixed by its hash. */
export function plausibleAccount(hash: string, stream: Stream): AddressFacts {
  const random = new Random(stream, Number.parseInt(hash.slice(-8), 16));
  const isDeployed = !random.oneIn(undeployedEvery);
  const { proxy, proxyType, code } = random.pick(accounts);
  const isVerified = isDeployed && proxy !== null && !random.oneIn(4);
  return {
    hash,
    name: isVerified ? proxy : null,
    hasNul: false,
    isContract: isDeployed,
    isVerified,
    proxyType: isDeployed ? proxyType : null,
    implementations: isDeployed ? [{ hash: codeOf(code, stream), name: code }] : [],
    extra: null,
  };
}

/** Accounts of a kind share their code. */
function codeOf(code: string, stream: Stream): string {
  return new Random(
    stream,
    accounts.findIndex((account) => account.code === code),
  ).hex(5);
}
