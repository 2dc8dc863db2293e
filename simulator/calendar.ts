import { firstHeight, itemsPerRung, lastWhere, startOf, type Ladder } from './places.ts';
import type { Draw } from './random.ts';

/**
 * A chain that lives by the calendar, as people do: busy days and quiet nights, weekends, growth,
 * one outage. The past of a time is the same whenever it is requested.
 */
export interface Calendar {
  /** A midnight (UTC) when the lowest height was mined, milliseconds since 1970. */
  readonly startMs: number;
  /** The present: nothing is newer. A later one shows more at the head, and the same below. */
  readonly endMs: number;
  /** When the first batch begins. */
  readonly batchesFromMs: number;
}

interface Rhythm extends Calendar {
  readonly draw: Draw;
  /** When its bundlers fail; end exclusive. */
  readonly outage: { readonly fromMs: number; readonly untilMs: number };
}

/** How busy a chain is, and which operations fall into which of its blocks. */
export interface Timetable extends Rhythm {
  /** The lowest height that a batch holds. */
  readonly batchesFloor: number;
  /** How many operations there are until the end. */
  readonly operations: number;
  readonly ladder: Ladder;
}

/** Days that a chain is described by: the growth, the versions and the outage all fall into them. */
export const storyDays = 90;
const hourMs = 60 * 60_000;
export const dayMs = 24 * hourMs;

/** Block time of an Optimism chain. */
export const blockTimeMs = 2000;
const blocksPerHour = hourMs / blockTimeMs;

/** Each rung has blocks of its own. */
const mostRungsPerBlock = 0.5;
/** How busy days are, from Sunday on. */
const weekdays = [0.6, 0.96, 1.04, 1.08, 1.06, 0.98, 0.7] as const;
/** The hour (UTC) at which most is sent: afternoon in Europe, morning in America. */
const peakHour = 15;
/** The outage comes after two thirds of the story, so that there is a before and an after. */
const outageDay = 57;
const outageHours = 7;
/** What is still sent while most of it fails. */
const sentInOutage = 0.7;

/**
 * Spreads operations over blocks as the rhythm says. Throws a RangeError if they are too many.
 *
 * @param operations how many the first 90 days hold
 */
export function planTimetable(calendar: Calendar, operations: number, draw: Draw): Timetable {
  if (!(operations > 0)) throw new RangeError('a calendar needs operations');
  const random = draw('calendar', 0);
  const day = outageDay + random.below(7);
  const fromMs = calendar.startMs + day * dayMs + (9 + random.below(6)) * hourMs;
  const rhythm = { ...calendar, draw, outage: { fromMs, untilMs: fromMs + outageHours * hourMs } };
  const heightAt = (atMs: number) => firstHeight + blocksBetween(calendar.startMs, atMs);
  const ladder = planLadder(rhythm, operations);
  return {
    ...rhythm,
    batchesFloor: heightAt(calendar.batchesFromMs),
    operations: startOf(ladder.rungsBelow(heightAt(calendar.endMs) + 1)),
    ladder,
  };
}

/** How many blocks are mined from one time to another. */
export const blocksBetween = (fromMs: number, untilMs: number): number =>
  Math.floor((untilMs - fromMs) / blockTimeMs);

/** When a height was mined, milliseconds since 1970. */
export const minedAt = ({ startMs }: Calendar, height: number): number =>
  startMs + (height - firstHeight) * blockTimeMs;

/** Days since the start, with fractions. */
export const daysAt = ({ startMs }: Calendar, atMs: number): number => (atMs - startMs) / dayMs;

/** The factor by which the chain has grown since its start. */
export const growthAt = (calendar: Calendar, atMs: number): number =>
  1 + (1.6 * daysAt(calendar, atMs)) / storyDays;

/** Whether bundlers fail. */
export const isOutage = ({ outage }: Rhythm, atMs: number): boolean =>
  atMs >= outage.fromMs && atMs < outage.untilMs;

/** How busy the chain is in the hour that holds a time; about 1 on the first days. */
export function activityAt(rhythm: Rhythm, atMs: number): number {
  const time = new Date(atMs);
  const daily = 1 + 0.6 * Math.cos((2 * Math.PI * (time.getUTCHours() - peakHour)) / 24);
  const weekly = weekdays[time.getUTCDay()] ?? 1;
  const mood = Math.exp(0.09 * rhythm.draw('calendar', Math.floor(atMs / dayMs)).bell());
  const left = isOutage(rhythm, atMs) ? sentInOutage : 1;
  return growthAt(rhythm, atMs) * daily * weekly * mood * left;
}

function planLadder(rhythm: Rhythm, operations: number): Ladder {
  const { reached, perRung } = sumActivity(rhythm, operations / itemsPerRung);
  /** Where the blocks of a rung begin. */
  const floorOf = (rung: number) => {
    const wanted = rung * perRung;
    const hour = lastWhere(reached.length, (index) => (reached[index] ?? 0) <= wanted);
    const [from, to] = [reached[hour] ?? 0, reached[hour + 1] ?? Infinity];
    return firstHeight + Math.floor((hour + (wanted - from) / (to - from)) * blocksPerHour);
  };
  const valueOf = (rung: number) => {
    const floor = floorOf(rung);
    return floor + rhythm.draw('user-operation-rung', rung).below(floorOf(rung + 1) - floor);
  };
  const rungs = Math.ceil((reached.at(-1) ?? 0) / perRung) - 1;
  const rungsBelow = (value: number) => lastWhere(rungs, (rung) => valueOf(rung) < value) + 1;
  return { valueOf, rungsBelow };
}

/** Activity until each hour up to the end, and beyond as far as the next rungs reach. */
function sumActivity(rhythm: Rhythm, rungs: number) {
  const { startMs, endMs } = rhythm;
  const storyHours = storyDays * 24;
  const reached = [0];
  const growWhile = (isShort: (last: number) => boolean) => {
    for (let last = reached.at(-1) ?? 0; isShort(last); reached.push(last)) {
      last += activityAt(rhythm, startMs + (reached.length - 1) * hourMs);
    }
  };
  growWhile(() => reached.length <= storyHours);
  const perRung = (reached[storyHours] ?? 0) / rungs;
  growWhile(() => reached.length <= (endMs - startMs) / hourMs + 1);
  const wanted = (reached.at(-1) ?? 0) + 2 * perRung;
  growWhile((last) => last <= wanted);
  const busiest = Math.max(...reached.map((sum, hour) => sum - (reached[hour - 1] ?? 0)));
  if (!(busiest / perRung / blocksPerHour <= mostRungsPerBlock)) {
    throw new RangeError('more operations than the blocks of a calendar hold');
  }
  return { reached, perRung };
}
