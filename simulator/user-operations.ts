import { directoryOf, entryPoints, isKnown, minerOf, renderAddress } from './addresses.ts';
import { daysAt, isOutage, minedAt, type Timetable } from './calendar.ts';
import { factoryAddressAt } from './factories.ts';
import { headAt, isOrphaned, longestReturn, whereaboutsAt, type Whereabouts } from './motion.ts';
import { isAbove, printNothing, type Position, type RankedList } from './pages.ts';
import { itemsPerRung, rankDigits, rungOf, startOf } from './places.ts';
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
    served(operation) {
      const partner = partnerOf(world, operation.ordinal, atMs);
      if (partner === operation.ordinal || operation.edition !== 0) return operation;
      const other = entryAt(world, partner, atMs);
      // Only what stands where it was made trades, so that the partner does the same.
      return other?.leftAtMs === null && other.edition === 0 ? operationOf(other) : operation;
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
  const { course, chain, draw, ladder } = world;
  if (course === null && ordinal >= chain.userOperations) return null;
  const digits = draw('user-operation', ordinal).hex(8);
  const blockNumber = ladder.valueOf(rungOf(ordinal));
  if (course === null) {
    // The hash rises with the ordinal within a block.
    const hash = rankDigits(digits, ordinal);
    return { ordinal, hash, blockNumber, edition: 0, leftAtMs: null };
  }
  const whereabouts = whereaboutsAt(course, ordinal, blockNumber, atMs);
  return whereabouts && { ...whereabouts, ordinal, hash: digits };
}

/** Operations of which some trade places: a power of two, and more than two of the largest pages. */
const windowSize = 128;

/**
 * The ordinal of the operation that stands in another's place: the same pair trades both ways, so
 * that a walk to the end still meets every item once.
 */
function partnerOf({ chain: { disorder }, draw }: World, ordinal: number, atMs: number): number {
  if (disorder === undefined) return ordinal;
  const { percent, fromMs = -Infinity, untilMs = Infinity } = disorder;
  if (atMs < fromMs || atMs >= untilMs) return ordinal;
  const place = ordinal % windowSize;
  const random = draw('disorder', (ordinal - place) / windowSize);
  if (random.below(100_000) >= percent * 1000) return ordinal;
  // Odd, so that neighbours trade order and every page of some items shows it.
  return ordinal - place + (place ^ (random.below(windowSize) | 1));
}

/** Every how many operations one shows a known sender as its hash alone. */
const bareSenderEvery = 17;

function drawUserOperation(world: World, entry: Entry) {
  const { ordinal } = entry;
  const random = world.draw('user-operation', ordinal);
  // The draws of the hash come first.
  random.hex(8);
  const { senderHash, entryPoint, fee, ...traits } =
    world.timetable === null
      ? drawTraits(world, entry, random)
      : drawLivedTraits(world, world.timetable, entry.blockNumber, random);
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

/** What an operation does, wherever it stands. */
interface Traits {
  readonly senderHash: string;
  readonly entryPoint: (typeof entryPoints)[number];
  readonly transactionHash: string;
  readonly fee: string;
  readonly status: boolean;
  readonly timestampMs: number | null;
  /** Members of the object that the contract does not list. */
  readonly extra: Readonly<Record<string, unknown>> | null;
}

/** @param random the draws of the operation, behind those of its hash */
function drawTraits(world: World, entry: Entry, random: Random): Traits {
  const { ordinal, blockNumber, edition } = entry;
  const entryPoint = random.pick(entryPoints);
  const senderHash = drawSenderHash(world, random);
  // Each edition has its own draws; those of the first go on here.
  const own = edition === 0 ? random : world.draw('user-operation', ordinal, edition);
  return {
    entryPoint,
    senderHash,
    transactionHash: own.hex(8),
    fee: own.decimal(1 + own.below(5)),
    status: !own.oneIn(12),
    timestampMs: own.oneIn(23) ? null : instantOf(world, blockNumber, blockNumber % 1000),
    extra: drawExtra(world, own),
  };
}

const drawExtra = ({ chain }: World, random: Random): Traits['extra'] =>
  chain.generation === 'v12' && random.oneIn(5) ? { bundle_index: random.below(30) } : null;

/** Mostly of the chain's pool; sometimes a miner or a factory, seen in the other lists too. */
function drawSenderHash(world: World, random: Random): string {
  const { userOperations, factories } = world.chain;
  if (random.oneIn(61)) return minerOf(world, random.below(4));
  if (factories > 0 && random.oneIn(53)) return factoryAddressAt(world, random.below(factories));
  const pool = Math.max(1, Math.floor(userOperations / operationsPerSender));
  return world.draw('sender', random.below(pool)).hex(5);
}

/** On which day half of the operations have come to a version, and how many days that takes. */
const arrivals = [null, 26, 61, 108] as const;
const adoptionDays = 5;
/** Failures in usual hours and in the outage, of all. */
const failed = { usually: 0.03, inOutage: 0.8 };
/** Senders at the start and new ones each day. */
const firstSenders = 900;
const newSendersADay = 30;
/** Gas of an operation and its price in wei: the middle, the spread (as logarithms), the bounds. */
const gas = { middle: 190_000, spread: 0.45, least: 50_000, most: 1_600_000 };
const price = { middle: 300_000_000, spread: 0.95, least: 20_000_000, most: 6_000_000_000 };

/** An operation as it would be on a real chain at the time of its block. */
function drawLivedTraits(
  world: World,
  timetable: Timetable,
  blockNumber: number,
  random: Random,
): Traits {
  const timestampMs = minedAt(timetable, blockNumber);
  const days = daysAt(timetable, timestampMs);
  const isInOutage = isOutage(timetable, timestampMs);
  // Zipf's law: the n-th sender sends an n-th of what the first one sends.
  const pool = firstSenders + Math.floor(newSendersADay * days);
  const rank = Math.floor(pool ** random.part()) - 1;
  return {
    senderHash: directoryOf(world).senders[rank] ?? world.draw('sender', rank).hex(5),
    entryPoint: drawEntryPoint(days, random),
    transactionHash: world.draw('user-operation-bundle', blockNumber).hex(8),
    fee: drawFee(days, isInOutage, random),
    status: random.part() >= (isInOutage ? failed.inOutage : failed.usually),
    timestampMs,
    extra: drawExtra(world, random),
  };
}

/** The newest version that has come to the operation: each is taken up as an S. */
function drawEntryPoint(days: number, random: Random): Traits['entryPoint'] {
  const part = random.part();
  const newest = entryPoints.findLast((_, place) => {
    const arrival = arrivals[place] ?? -Infinity;
    return part < 1 / (1 + Math.exp((arrival - days) / adoptionDays));
  });
  return newest ?? entryPoints[0];
}

/** Gas times its price, which has good and bad weeks, and is bid up when little gets through. */
function drawFee(days: number, isBidUp: boolean, random: Random): string {
  const week = 0.35 * Math.sin(days / 4.1) + 0.2 * Math.sin(days / 1.7);
  /** Log-normal, as costs are. */
  const around = ({ middle, spread, least, most }: typeof gas, shift: number) => {
    const drawn = middle * Math.exp(shift + spread * random.bell());
    return BigInt(Math.round(Math.min(most, Math.max(least, drawn))));
  };
  const used = around(gas, 0);
  return String(used * around(price, week + (isBidUp ? 1 : 0)));
}
