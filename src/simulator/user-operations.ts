import { isKnown, minerOf, type Appearance } from './address-facts.ts';
import { firstHeight, lacksHash, weiOf, type World } from './chain.ts';
import { factoryAddressAt } from './factories.ts';
import { instantOf } from './instant.ts';
import { rankDigits, seekOrdinal, standingOf, type Ladder } from './ladder.ts';
import { editionOf, Random } from './random.ts';

/** A user operation; ordinal 0 is the oldest of the list. */
export interface UserOperation {
  readonly ordinal: number;
  /** 1 after it was included again, in another transaction. */
  readonly edition: 0 | 1;
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

/** The operation with this ordinal where nothing moves: a function of seed, chain and ordinal. */
export function userOperationAt(world: World, ordinal: number): UserOperation {
  return drawUserOperation(world, ordinal, {
    hash: rankedHash(world, ordinal),
    blockNumber: standingOf(ladderOf(world), ordinal).value,
    edition: 0,
  });
}

/** The facts of an operation that stands at this place on the chain. */
export function drawUserOperation(
  world: World,
  ordinal: number,
  place: Pick<UserOperation, 'hash' | 'blockNumber' | 'edition'>,
): UserOperation {
  const { blockNumber, hash, edition } = place;
  const stream = world.streams['user-operation'];
  const random = new Random(stream, ordinal);
  // Each edition has its own draws; those of the first go on after the draws of the hash.
  random.hex(8);
  const entryPoint = random.pick(entryPoints);
  const sender = drawSender(world, ordinal, random);
  const own = edition === 0 ? random : new Random(editionOf(stream, edition), ordinal);
  return {
    ordinal,
    edition,
    hash,
    lacksHash: lacksHash(world, ordinal),
    blockNumber,
    sender,
    entryPoint: { hash: entryPoint.hash, shown: isKnown(entryPoint.hash) ? 'full' : 'unknown' },
    entryPointVersion: entryPoint.version,
    transactionHash: own.hex(8),
    fee: weiOf(world, ordinal)(own.decimal(1 + own.below(5))),
    status: !own.oneIn(12),
    timestampMs: own.oneIn(23) ? null : instantOf(world, blockNumber, blockNumber % 1000),
    extra:
      world.chain.generation === 'v12' && own.oneIn(5) ? { bundle_index: own.below(30) } : null,
  };
}

/** The hash of an operation on a chain that moves: the same in every block. */
export function operationHash(world: World, ordinal: number): string {
  return new Random(world.streams['user-operation'], ordinal).hex(8);
}

/** The hash of an operation where nothing moves: it rises with the ordinal within a block. */
function rankedHash(world: World, ordinal: number): string {
  return rankDigits(operationHash(world, ordinal), standingOf(ladderOf(world), ordinal));
}

/** The highest ordinal not above (block number, hash), or -1. */
export function seekUserOperation(world: World, blockNumber: number, hash: string): number {
  const keyOf = (ordinal: number) => rankedHash(world, ordinal);
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
