import { isKnown, minerOf, type Appearance } from './address-facts.ts';
import { lacksHash, weiOf, type World } from './chain.ts';
import { factoryAddressAt } from './factories.ts';
import { firstHeight, instantOf } from './instant.ts';
import { rankDigits, seekOrdinal, standingOf, type Ladder } from './ladder.ts';
import { Random } from './random.ts';

/** A user operation; ordinal 0 is the oldest of the list. */
export interface UserOperation {
  readonly ordinal: number;
  readonly hash: string;
  readonly lacksHash: boolean;
  readonly blockNumber: number;
  readonly sender: Party;
  readonly entryPoint: Party;
  readonly entryPointVersion: string;
  readonly transactionHash: string;
  readonly fee: string;
  readonly status: boolean;
  readonly timestampMs: number | null;
  /** Members of the object that the contract does not list. */
  readonly extra: Readonly<Record<string, unknown>> | null;
}

/** An address in an operation, and how it appears there. */
interface Party {
  readonly hash: string;
  readonly shown: Appearance;
}

/** The singleton contracts of ERC-4337, from the releases of eth-infinitism/account-abstraction. */
const entryPoints = [
  { version: 'v0.6', hash: '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789' },
  { version: 'v0.7', hash: '0x0000000071727de22e5e9d8baf0edac6f37da032' },
  { version: 'v0.8', hash: '0x4337084d9e255ff0702461cf8895ce9e3b5ff108' },
  { version: 'v0.9', hash: '0x433709009b8330fda32311df1c2afa402ed8d009' },
] as const;

/** Operations to one sender, on average. */
const operationsPerSender = 4;

/** Every how many operations one shows a known sender as its hash alone. */
const bareSenderEvery = 17;

function ladderOf(world: World): Ladder {
  return { first: firstHeight, step: 3, stream: world.streams['user-operation-rung'] };
}

/** The operation with this ordinal: a function of seed, chain and ordinal alone. */
export function userOperationAt(world: World, ordinal: number): UserOperation {
  const standing = standingOf(ladderOf(world), ordinal);
  const random = new Random(world.streams['user-operation'], ordinal);
  const hash = rankDigits(random.hex(8), standing);
  const entryPoint = random.pick(entryPoints);
  return {
    ordinal,
    hash,
    lacksHash: lacksHash(world, ordinal),
    blockNumber: standing.value,
    sender: drawSender(world, ordinal, random),
    entryPoint: { hash: entryPoint.hash, shown: isKnown(entryPoint.hash) ? 'full' : 'unknown' },
    entryPointVersion: entryPoint.version,
    transactionHash: random.hex(8),
    fee: weiOf(world, ordinal)(random.decimal(1 + random.below(5))),
    status: !random.oneIn(12),
    timestampMs: random.oneIn(23) ? null : instantOf(world, standing.value, standing.value % 1000),
    extra:
      world.chain.generation === 'v12' && random.oneIn(5)
        ? { bundle_index: random.below(30) }
        : null,
  };
}

/** The hash of the operation with this ordinal, without its other facts. */
function userOperationHashAt(world: World, ordinal: number): string {
  const digits = new Random(world.streams['user-operation'], ordinal).hex(8);
  return rankDigits(digits, standingOf(ladderOf(world), ordinal));
}

/** The highest ordinal not above (block number, hash), or -1. */
export function seekUserOperation(world: World, blockNumber: number, hash: string): number {
  const keyOf = (ordinal: number) => userOperationHashAt(world, ordinal);
  return seekOrdinal(ladderOf(world), blockNumber, hash, keyOf);
}

function drawSender(world: World, ordinal: number, random: Random): Party {
  const hash = drawSenderHash(world, random);
  if (!isKnown(hash)) return { hash, shown: 'unknown' };
  return { hash, shown: ordinal % bareSenderEvery === 0 ? 'bare' : 'full' };
}

/** Mostly of the chain's pool; sometimes a miner or a factory, seen in the other lists too. */
function drawSenderHash(world: World, random: Random): string {
  const { userOperations, factories } = world.chain;
  if (random.oneIn(61)) return minerOf(world, random.below(4));
  if (factories > 0 && random.oneIn(53)) return factoryAddressAt(world, random.below(factories));
  const pool = Math.max(1, Math.floor(userOperations / operationsPerSender));
  return new Random(world.streams.sender, random.below(pool)).hex(5);
}
