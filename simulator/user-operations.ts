import { isKnown, printNothing, renderAddress, type Appearance } from './addresses.ts';
import { itemsPerRung, rankDigits, rungOf, startOf } from './ladder.ts';
import { headAt, isOrphaned, longestReturn, whereaboutsAt, type Whereabouts } from './motion.ts';
import { isAbove, type Position, type RankedList } from './pages.ts';
import { drawTraits, type Traits } from './user-operation-traits.ts';
import { lacksHash, printInstant, weiOf, type World } from './world.ts';

/** Where an operation stands, without its other facts; ordinal 0 is the oldest of the list. */
interface Entry extends Whereabouts {
  readonly ordinal: number;
  readonly hash: string;
}

/** A user operation. */
export interface UserOperation extends Entry, Omit<Traits, 'senderHash' | 'entryPoint'> {
  readonly lacksHash: boolean;
  readonly sender: Party;
  readonly entryPoint: Party;
  readonly entryPointVersion: string;
}

/** An address in an operation, and how it appears there. */
interface Party {
  readonly hash: string;
  readonly shown: Appearance;
}

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
export function operationsSeen(world: World, atMs: number, length: number): UserOperation[] {
  const entries = entriesBelow(world, atMs, null, length, () => true);
  return entries.map((entry) => drawUserOperation(world, entry));
}

const isListed = ({ leftAtMs }: Entry) => leftAtMs === null;

const positionOf = ({ blockNumber, hash }: Entry): Position => ({ value: blockNumber, key: hash });

const newestFirst = (left: Entry, right: Entry): number =>
  isAbove(positionOf(left), positionOf(right)) ? -1 : 1;

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
    found.push(
      ...entries.filter(
        (entry) => isWanted(entry) && (position === null || !isAbove(positionOf(entry), position)),
      ),
    );
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
  return entries.sort(newestFirst);
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

function drawUserOperation(world: World, entry: Entry): UserOperation {
  const { ordinal } = entry;
  const random = world.draw('user-operation', ordinal);
  // The draws of the hash come first.
  random.hex(8);
  const { senderHash, entryPoint, fee, ...traits } = drawTraits(world, entry, random);
  const isBare = ordinal % bareSenderEvery === 0;
  const show = (hash: string, known: Appearance): Party => ({
    hash,
    shown: isKnown(world, hash) ? known : 'unknown',
  });
  return {
    ...entry,
    lacksHash: lacksHash(world, ordinal),
    sender: show(senderHash, isBare ? 'bare' : 'full'),
    entryPoint: show(entryPoint.hash, 'full'),
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
    timestamp:
      timestampMs === null
        ? printNothing(shape)
        : printInstant(world.chain.generation, timestampMs),
    ...operation.extra,
  };
}
