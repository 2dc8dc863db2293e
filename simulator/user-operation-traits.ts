import { minerOf } from './addresses.ts';
import { daysAt, isOutage, minedAt } from './calendar.ts';
import { entryPoints } from './directory.ts';
import { factoryAddressAt } from './factories.ts';
import type { Whereabouts } from './motion.ts';
import type { Random } from './random.ts';
import { instantOf, type Lived, type World } from './world.ts';

/** What an operation does, wherever it stands. */
export interface Traits {
  readonly senderHash: string;
  readonly entryPoint: (typeof entryPoints)[number];
  readonly transactionHash: string;
  readonly fee: string;
  readonly status: boolean;
  readonly timestampMs: number | null;
  /** Members of the object that the contract does not list. */
  readonly extra: Readonly<Record<string, unknown>> | null;
}

/** Which operation it is, and where it stands. */
interface Made extends Pick<Whereabouts, 'blockNumber' | 'edition'> {
  readonly ordinal: number;
}

/** Operations to one sender, on average. */
const operationsPerSender = 4;

/** @param random the draws of the operation, behind those of its hash */
export function drawTraits(
  world: World,
  { ordinal, blockNumber, edition }: Made,
  random: Random,
): Traits {
  if (world.lived !== null) return drawLivedTraits(world, world.lived, blockNumber, random);
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
  { timetable, senders }: Lived,
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
    senderHash: senders[rank] ?? world.draw('sender', rank).hex(5),
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
  const used = drawAround(gas, 0, random);
  const wei = drawAround(price, week + (isBidUp ? 1 : 0), random);
  return (BigInt(used) * BigInt(wei)).toString();
}

/** Log-normal, as costs are. */
function drawAround(
  { middle, spread, least, most }: typeof gas,
  shift: number,
  random: Random,
): number {
  const drawn = middle * Math.exp(shift + spread * random.bell());
  return Math.round(Math.min(most, Math.max(least, drawn)));
}
