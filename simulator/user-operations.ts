import { entryPoints, isKnown, minerOf, renderAddress, senderAt } from './addresses.ts';
import { factoryAddressAt } from './factories.ts';
import { headAt, isOrphaned, longestReturn, sightingsUntil, type Whereabouts } from './motion.ts';
import { isAbove, printNothing, type Position, type RankedList } from './pages.ts';
import { blockTimeMs, firstHeight, itemsPerRung, rankDigits, rungOf, startOf } from './places.ts';
import type { Random } from './random.ts';
import { instantOf, lacksHash, printInstant, weiOf, type World } from './world.ts';

/** Where an operation stands, without its other facts; ordinal 0 is the oldest of the list. */
interface Entry extends Whereabouts {
  readonly ordinal: number;
  readonly hash: string;
}

export type UserOperation = ReturnType<typeof drawUserOperation>;

/** The list at a time, newest first. */
export function listUserOperations(world: World, atMs: number): RankedList<UserOperation> {
  const operationOf = (entry: Entry) => drawUserOperation(world, entry);
  return {
    below: (position, length) =>
      entriesBelow(world, atMs, position, length, isListed).map(operationOf),
    above(operation) {
      const entry = entryAbove(world, atMs, positionOf(operation));
      return entry && operationOf(entry);
    },
    token: ({ blockNumber, hash }) => `${blockNumber},${hash}`,
    digits: 64,
    render: (operation) => renderUserOperation(world, operation),
  };
}

/** All that were on the list at some moment until a time, newest first; `length` at most. */
export const operationsSeen = (world: World, atMs: number, length: number): UserOperation[] =>
  entriesBelow(world, atMs, null, length, () => true).map((entry) =>
    drawUserOperation(world, entry),
  );

/** The same, newest last, with what was seen of those that returned before they left. */
export const sightingsSeen = (world: World, atMs: number): UserOperation[] =>
  operationsSeen(world, atMs, Infinity)
    .flatMap(({ ordinal, hash }) => entriesOf(world, ordinal, hash, atMs))
    .map((entry) => drawUserOperation(world, entry));

const isListed = ({ leftAtMs }: Entry) => leftAtMs === null;

const positionOf = ({ blockNumber, hash }: Entry): Position => ({ value: blockNumber, key: hash });

/** The newest height that may hold an operation. */
function headOf({ course, ladder, chain: { userOperations } }: World, atMs: number): number {
  if (course !== null) return headAt(course, atMs);
  return userOperations === 0 ? -1 : ladder.valueOf(rungOf(userOperations - 1));
}

/** Rungs that are looked through beyond those that a page needs at the usual density. */
const slackRungs = 4;

function entriesBelow(
  world: World,
  atMs: number,
  position: Position | null,
  length: number,
  isWanted: (entry: Entry) => boolean,
): Entry[] {
  const { ladder } = world;
  const rungs = Math.ceil(length / itemsPerRung) + slackRungs;
  const found: Entry[] = [];
  let highest = Math.min(position?.value ?? Infinity, headOf(world, atMs));
  let above = ladder.rungsBelow(highest + 1);
  while (found.length < length && above > 0) {
    const rung = Math.max(0, above - rungs);
    const lowest = ladder.valueOf(rung);
    const entries = entriesBetween(world, lowest, highest, atMs);
    const isBelow = (entry: Entry) => position === null || !isAbove(positionOf(entry), position);
    found.push(...entries.filter((entry) => isWanted(entry) && isBelow(entry)));
    highest = lowest - 1;
    above = rung === 0 ? 0 : ladder.rungsBelow(lowest);
  }
  return found.slice(0, length);
}

/** What is listed just above a position. */
function entryAbove(world: World, atMs: number, position: Position): Entry | undefined {
  const head = headOf(world, atMs);
  for (let blocks = 4; ; blocks *= 4) {
    const highest = Math.min(head, position.value + blocks);
    const above = entriesBetween(world, position.value, highest, atMs).findLast(
      (entry) => isListed(entry) && isAbove(positionOf(entry), position),
    );
    if (above !== undefined || highest === head) return above;
  }
}

/** What was seen until a time in a range of blocks, both ends included, newest first. */
function entriesBetween(world: World, lowest: number, highest: number, atMs: number): Entry[] {
  const { course, ladder } = world;
  // What returned stands above the block where it was first made.
  const reach = course === null ? 0 : longestReturn(course);
  const own = startOf(ladder.rungsBelow(lowest));
  const end = startOf(ladder.rungsBelow(highest + 1));
  const entries: Entry[] = [];
  for (let ordinal = startOf(ladder.rungsBelow(lowest - reach)); ordinal < end; ordinal += 1) {
    if (ordinal < own && course !== null && !isOrphaned(course, ordinal)) continue;
    const entry = entryAt(world, ordinal, atMs);
    if (entry === null) continue;
    if (entry.blockNumber >= lowest && entry.blockNumber <= highest) entries.push(entry);
  }
  return entries.sort((left, right) => (isAbove(positionOf(left), positionOf(right)) ? -1 : 1));
}

/** Null for an operation that cannot have been seen until then. */
function entryAt(world: World, ordinal: number, atMs: number): Entry | null {
  const { course, chain, draw } = world;
  if (course === null && ordinal >= chain.userOperations) return null;
  const digits = draw('user-operation', ordinal).hex(8);
  // The hash rises with the ordinal within a block.
  const hash = course === null ? rankDigits(digits, ordinal) : digits;
  return entriesOf(world, ordinal, hash, atMs).at(-1) ?? null;
}

function entriesOf(
  { course, ladder }: World,
  ordinal: number,
  hash: string,
  atMs: number,
): Entry[] {
  const blockNumber = ladder.valueOf(rungOf(ordinal));
  if (course === null) return [{ ordinal, hash, blockNumber, edition: 0, leftAtMs: null }];
  return sightingsUntil(course, ordinal, blockNumber, atMs).map((place) => ({
    ...place,
    ordinal,
    hash,
  }));
}

/** Every how many operations one shows a known sender as its hash alone. */
const bareSenderEvery = 17;

function drawUserOperation(world: World, entry: Entry) {
  const { ordinal } = entry;
  const { senderHash, entryPoint, fee, ...traits } = {
    ...drawTraits(world, entry),
    ...drawHabits(world, entry),
  };
  const party = (hash: string, known: 'full' | 'bare') => ({
    hash,
    shown: isKnown(world, hash) ? known : ('unknown' as const),
  });
  return {
    ...entry,
    lacksHash: lacksHash(world, ordinal),
    sender: party(senderHash, ordinal % bareSenderEvery === 0 ? 'bare' : 'full'),
    entryPoint: party(entryPoint.hash, 'full'),
    entryPointVersion: entryPoint.version,
    fee: weiOf(world, ordinal)(fee),
    ...traits,
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
    entry_point_version: operation.entryPointVersion,
    block_number: String(operation.blockNumber),
    transaction_hash: operation.transactionHash,
    fee: operation.fee,
    status: operation.status,
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
function transactionOf({ course, draw }: World, entry: Entry, another: string): string {
  const { ordinal, blockNumber, edition } = entry;
  if (course !== null && isOrphaned(course, ordinal)) {
    const random = draw('user-operation-alone', ordinal);
    if (random.oneIn(2)) return random.hex(8);
  }
  return edition === 0 ? draw('user-operation-bundle', blockNumber).hex(8) : another;
}

/** What an operation does, wherever it stands. */
function drawTraits(world: World, entry: Entry) {
  const { ordinal, blockNumber, edition } = entry;
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
    transactionHash: transactionOf(world, entry, own.hex(8)),
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
  const { userOperations, factories } = world.chain;
  if (random.oneIn(61)) return minerOf(world, random.below(4));
  if (factories > 0 && random.oneIn(53)) return factoryAddressAt(world, random.below(factories));
  const pool = Math.max(1, Math.floor(userOperations / operationsPerSender));
  return world.draw('sender', random.below(pool)).hex(5);
}

/** Senders of a chain in use, at the start and new ones each day. */
const firstSenders = 900;
const newSendersADay = 30;
/** Days until the next version of the entry point has taken over. */
const adoptionDays = 45;

/** What else people do on a chain in use: a few send most, and newer versions take over. */
function drawHabits(world: World, { ordinal, blockNumber }: Entry) {
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
