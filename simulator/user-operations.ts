import { entryPoints, isKnown, minerOf, renderAddress, senderAt } from './addresses.ts';
import { headAt, isOrphaned, longestReturn, sightingsUntil, type Whereabouts } from './motion.ts';
import { inOrder, itemsBelow, printNothing, type List, type Position } from './pages.ts';
import { blockTimeMs, firstHeight, rankDigits, rungOf, startOf } from './places.ts';
import type { Random } from './random.ts';
import { rankings } from './rankings.ts';
import { instantOf, lacksHash, printInstant, weiOf, type World } from './world.ts';

/** Where an operation is listed, without its other facts; ordinal 0 is the oldest of the list. */
interface Inclusion extends Whereabouts {
  readonly ordinal: number;
  readonly hash: string;
}

export type UserOperation = ReturnType<typeof drawUserOperation>;

/** The list at a time, newest first. */
export function listUserOperations(world: World, atMs: number): List<UserOperation> {
  const seen = seenOperations(world, atMs);
  const between = (lowest: number, highest: number) =>
    seen.between(lowest, highest).filter(({ leftAtMs }) => leftAtMs === null);
  return { ...seen, between };
}

/** All that were on the list at some moment until a time, newest first. */
export function seenOperations(world: World, atMs: number): List<UserOperation> {
  const { chain, course, ladder } = world;
  const newest = rungOf(Math.max(0, chain.userOperations - 1));
  const head = course.rests ? ladder.valueOf(newest) : headAt(course, atMs);
  const bottom = ladder.valueOf(0);
  return {
    bottom,
    head,
    spacing: (head - bottom + 1) / startOf(ladder.rungsBelow(head + 1)),
    between: (lowest, highest) =>
      inclusionsBetween(world, lowest, highest, atMs).map((inclusion) =>
        drawUserOperation(world, inclusion),
      ),
    positionOf,
    render: (operation) => renderUserOperation(world, operation),
  };
}

/** The same, newest last, with what was seen of those that returned before they left. */
export const sightingsSeen = (world: World, atMs: number): UserOperation[] =>
  itemsBelow(seenOperations(world, atMs), null, Infinity)
    .flatMap(({ ordinal }) => inclusionsOf(world, ordinal, atMs))
    .map((inclusion) => drawUserOperation(world, inclusion));

const positionOf = ({ blockNumber, hash }: Inclusion): Position => ({
  value: blockNumber,
  key: hash,
});

/** What was seen until a time in a range of blocks, both ends included, newest first. */
function inclusionsBetween(
  world: World,
  lowest: number,
  highest: number,
  atMs: number,
): Inclusion[] {
  const { course, ladder } = world;
  // What returned stands above the block where it was first made.
  const reach = longestReturn(course);
  const own = startOf(ladder.rungsBelow(lowest));
  const end = startOf(ladder.rungsBelow(highest + 1));
  const inclusions: Inclusion[] = [];
  for (let ordinal = startOf(ladder.rungsBelow(lowest - reach)); ordinal < end; ordinal += 1) {
    if (ordinal >= own || isOrphaned(course, ordinal)) {
      inclusions.push(...inclusionsOf(world, ordinal, atMs).slice(-1));
    }
  }
  const within = inclusions.filter(
    (one) => one.blockNumber >= lowest && one.blockNumber <= highest,
  );
  return inOrder(within, positionOf);
}

/** Where an operation was seen until a time, the newest last. */
function inclusionsOf(world: World, ordinal: number, atMs: number): Inclusion[] {
  const { course, chain, draw, ladder } = world;
  if (course.rests && ordinal >= chain.userOperations) return [];
  const digits = draw('user-operation', ordinal).hex(8);
  // The hash rises with the ordinal within a block.
  const hash = course.rests ? rankDigits(digits, ordinal) : digits;
  const sightings = sightingsUntil(course, ordinal, ladder.valueOf(rungOf(ordinal)), atMs);
  return sightings.map((place) => ({ ...place, ordinal, hash }));
}

/** Every how many operations one shows a known sender as its hash alone. */
const bareSenderEvery = 17;

function drawUserOperation(world: World, inclusion: Inclusion) {
  const { ordinal } = inclusion;
  const { senderHash, entryPoint, timestampMs, extra, ...fields } = {
    ...drawTraits(world, inclusion),
    ...drawHabits(world, inclusion),
  };
  const party = (hash: string, known: 'full' | 'bare') => ({
    hash,
    shown: isKnown(world, hash) ? known : ('unknown' as const),
  });
  return {
    ...inclusion,
    lacksHash: lacksHash(world, ordinal),
    sender: party(senderHash, ordinal % bareSenderEvery === 0 ? 'bare' : 'full'),
    entryPoint: party(entryPoint.hash, 'full'),
    timestampMs,
    extra,
    // Under the contract's names.
    fields: {
      ...fields,
      entry_point_version: entryPoint.version,
      fee: weiOf(world, ordinal)(fields.fee),
    },
  };
}

/** A user operation as the chain's generation prints it. */
function renderUserOperation(world: World, operation: UserOperation): unknown {
  const shape = world.draw('user-operation-shape', operation.ordinal);
  const { sender, entryPoint, timestampMs } = operation;
  return {
    ...(operation.lacksHash ? {} : { hash: operation.hash }),
    address: renderAddress(world, sender.hash, sender.shown, shape),
    entry_point: renderAddress(world, entryPoint.hash, entryPoint.shown, shape),
    block_number: String(operation.blockNumber),
    ...operation.fields,
    timestamp: timestampMs === null ? printNothing(shape) : printInstant(world, timestampMs),
    ...operation.extra,
  };
}

/** Operations to one sender, on average. */
const operationsPerSender = 4;

/**
 * The transaction that brought an operation. Those of a block went through one, but every second that
 * leaves went alone, and returns in its own.
 */
function transactionOf({ course, draw }: World, inclusion: Inclusion, another: string): string {
  const { ordinal, blockNumber, edition } = inclusion;
  if (isOrphaned(course, ordinal)) {
    const random = draw('user-operation-alone', ordinal);
    if (random.oneIn(2)) return random.hex(8);
  }
  return edition === 0 ? draw('user-operation-bundle', blockNumber).hex(8) : another;
}

/** What an operation does, wherever it stands. */
function drawTraits(world: World, inclusion: Inclusion) {
  const { ordinal, blockNumber, edition } = inclusion;
  const random = world.draw('user-operation', ordinal);
  // The draws of the hash come first.
  random.hex(8);
  const entryPoint = random.pick(entryPoints);
  const senderHash = drawSenderHash(world, random);
  // Each edition has its own draws; those of the first go on here.
  const own = edition === 0 ? random : world.draw('user-operation', ordinal, edition);
  return {
    entryPoint,
    senderHash,
    transaction_hash: transactionOf(world, inclusion, own.hex(8)),
    fee: own.decimal(1 + own.below(5)),
    status: !own.oneIn(12),
    timestampMs: own.oneIn(23) ? null : instantOf(world, blockNumber, blockNumber % 1000),
    /** Members of the object that the contract does not list. */
    extra:
      world.chain.generation === 'v12' && own.oneIn(5) ? { bundle_index: own.below(30) } : null,
  };
}

/** Mostly of the chain's pool; sometimes a miner or a factory, seen in the other lists too. */
function drawSenderHash(world: World, random: Random): string {
  const { chain } = world;
  if (random.oneIn(61)) return minerOf(world, random.below(4));
  if (chain.factories > 0 && random.oneIn(53)) {
    return rankings.factories.addressAt(world, random.below(chain.factories));
  }
  const pool = Math.max(1, Math.floor(chain.userOperations / operationsPerSender));
  return world.draw('sender', random.below(pool)).hex(5);
}

/** Senders of a chain in use, at the start and new ones each day. */
const firstSenders = 900;
const newSendersADay = 30;
/** Days until the next version of the entry point has taken over. */
const adoptionDays = 45;

/** What else people do on a chain in use: a few send most, and newer versions take over. */
function drawHabits(world: World, { ordinal, blockNumber }: Inclusion) {
  if (!world.chain.lived) return {};
  const random = world.draw('user-operation-habit', ordinal);
  const days = ((blockNumber - firstHeight) * blockTimeMs) / 86_400_000;
  // Zipf's law: the n-th sender sends an n-th of what the first one sends.
  const pool = firstSenders + newSendersADay * days;
  const version = Math.floor(days / adoptionDays + random.part());
  const wei = 5e13 * Math.exp(random.part() + random.part() + 0.35 * Math.sin(days / 4));
  return {
    senderHash: senderAt(world, Math.floor(Math.exp(random.part() * Math.log(pool))) - 1),
    entryPoint: entryPoints[Math.min(version, 3)] ?? entryPoints[0],
    fee: String(Math.round(wei)),
    status: !random.oneIn(30),
    timestampMs: instantOf(world, blockNumber, 0),
  };
}
