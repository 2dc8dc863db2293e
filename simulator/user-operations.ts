import { isKnown, minerOf, type Appearance } from './address-facts.ts';
import { firstHeight, lacksHash, weiOf, type World } from './chain.ts';
import { entryPoints } from './directory.ts';
import { factoryAddressAt } from './factories.ts';
import { instantOf } from './instant.ts';
import { evenLadder, rankDigits, seekOrdinal, standingOf, type Ladder } from './ladder.ts';
import { plausibleTraits } from './plausible-operation.ts';
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

/** Which operation it is, and where it stands. */
type Place = Pick<UserOperation, 'hash' | 'blockNumber' | 'edition'>;

/** An address in an operation, and how it appears there. */
interface Party {
  readonly hash: string;
  readonly shown: Appearance;
}

/** Operations to one sender, on average. */
const operationsPerSender = 4;

/** Every how many operations one shows a known sender as its hash alone. */
const bareSenderEvery = 17;

function ladderOf(world: World): Ladder {
  const { lived, streams } = world;
  return lived?.timetable.ladder ?? evenLadder(firstHeight, 3, streams['user-operation-rung']);
}

/** The operation with this ordinal where nothing moves: a function of seed, chain and ordinal. */
export function userOperationAt(world: World, ordinal: number): UserOperation {
  return drawUserOperation(world, ordinal, {
    hash: rankedHash(world, ordinal),
    blockNumber: standingOf(ladderOf(world), ordinal).value,
    edition: 0,
  });
}

/** What an operation does, wherever it stands. */
export interface Traits extends Pick<
  UserOperation,
  'transactionHash' | 'fee' | 'status' | 'timestampMs' | 'extra'
> {
  readonly senderHash: string;
  readonly entryPoint: (typeof entryPoints)[number];
}

/** The facts of an operation that stands at this place on the chain. */
export function drawUserOperation(world: World, ordinal: number, place: Place): UserOperation {
  const { blockNumber, hash, edition } = place;
  const random = new Random(world.streams['user-operation'], ordinal);
  // The draws of the hash come first.
  random.hex(8);
  const { senderHash, entryPoint, fee, ...traits } =
    world.lived === null
      ? drawTraits(world, ordinal, place, random)
      : plausibleTraits(world, world.lived, blockNumber, random);
  return {
    ordinal,
    edition,
    hash,
    lacksHash: lacksHash(world, ordinal),
    blockNumber,
    sender: showSender(world, ordinal, senderHash),
    entryPoint: {
      hash: entryPoint.hash,
      shown: isKnown(world, entryPoint.hash) ? 'full' : 'unknown',
    },
    entryPointVersion: entryPoint.version,
    fee: weiOf(world, ordinal)(fee),
    ...traits,
  };
}

function drawTraits(
  world: World,
  ordinal: number,
  { blockNumber, edition }: Place,
  random: Random,
): Traits {
  const entryPoint = random.pick(entryPoints);
  const senderHash = drawSenderHash(world, random);
  // Each edition has its own draws; those of the first go on here.
  const own =
    edition === 0
      ? random
      : new Random(editionOf(world.streams['user-operation'], edition), ordinal);
  return {
    entryPoint,
    senderHash,
    transactionHash: own.hex(8),
    fee: own.decimal(1 + own.below(5)),
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

function showSender(world: World, ordinal: number, hash: string): Party {
  if (!isKnown(world, hash)) return { hash, shown: 'unknown' };
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
