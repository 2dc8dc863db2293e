import { daysAt, isOutage } from './calendar.ts';
import type { Lived, World } from './chain.ts';
import { entryPoints } from './directory.ts';
import { Random } from './random.ts';
import { minedAt } from './timetable.ts';
import type { Traits } from './user-operations.ts';

/** On which day half of the operations have come to a version, and how many days that takes. */
const arrivals = [null, 26, 61, 108] as const;
const adoptionDays = 5;

/** Failures in usual hours and in the outage, of all. */
const failed = { usually: 0.03, inOutage: 0.8 };

/** Senders at the start and new ones each day; the law that makes few of them send much. */
const firstSenders = 900;
const newSendersADay = 30;

/** Gas of an operation and its price in wei: the middle, the spread (as logarithms), the bounds. */
const gas = { middle: 190_000, spread: 0.45, least: 50_000, most: 1_600_000 };
const price = { middle: 300_000_000, spread: 0.95, least: 20_000_000, most: 6_000_000_000 };

/** An operation as it would be on a real chain at the time of its block. */
export function plausibleTraits(
  world: World,
  lived: Lived,
  blockNumber: number,
  random: Random,
): Traits {
  const { timetable } = lived;
  const timestampMs = minedAt(timetable, blockNumber);
  const days = daysAt(timetable, timestampMs);
  return {
    senderHash: drawSender(world, lived, days, random),
    entryPoint: drawEntryPoint(days, random),
    transactionHash: new Random(world.streams['user-operation-bundle'], blockNumber).hex(8),
    fee: drawFee(days, isOutage(timetable, timestampMs), random),
    status: random.part() >= (isOutage(timetable, timestampMs) ? failed.inOutage : failed.usually),
    timestampMs,
    extra:
      world.chain.generation === 'v12' && random.oneIn(5)
        ? { bundle_index: random.below(30) }
        : null,
  };
}

/** Zipf's law: the n-th sender sends an n-th of what the first one sends. */
function drawSender(world: World, { directory }: Lived, days: number, random: Random): string {
  const senders = firstSenders + Math.floor(newSendersADay * days);
  const rank = Math.floor(senders ** random.part()) - 1;
  return directory.senders[rank] ?? new Random(world.streams.sender, rank).hex(5);
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

interface Distribution {
  readonly middle: number;
  readonly spread: number;
  readonly least: number;
  readonly most: number;
}

/** Log-normal, as costs are. */
function drawAround(
  { middle, spread, least, most }: Distribution,
  shift: number,
  random: Random,
): number {
  const drawn = middle * Math.exp(shift + spread * random.bell());
  return Math.round(Math.min(most, Math.max(least, drawn)));
}
