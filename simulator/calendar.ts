import { Random, type Stream } from './random.ts';

/**
 * A chain that lives by the calendar, as people do: busy days and quiet nights, weekends, growth,
 * one outage. What has happened until a time is the same whenever it is asked for.
 */
export interface Calendar {
  /** A midnight (UTC) when the lowest height was mined, milliseconds since 1970. */
  readonly startMs: number;
  /** The present: nothing is newer. A later one shows more at the head, and the same below. */
  readonly endMs: number;
  /** When the first batch begins. */
  readonly batchesFromMs: number;
}

/** The life of a chain: how busy it is, and when its bundlers were out of order. */
export interface Rhythm extends Calendar {
  readonly stream: Stream;
  /** End exclusive. */
  readonly outage: { readonly fromMs: number; readonly untilMs: number };
}

/** Days that a chain is described by: the growth, the versions and the outage all fall into them. */
export const storyDays = 90;

export const hourMs = 60 * 60_000;
export const dayMs = 24 * hourMs;

/** From Sunday on. */
const weekdays = [0.6, 0.96, 1.04, 1.08, 1.06, 0.98, 0.7] as const;

/** The hour (UTC) at which most is sent: afternoon in Europe, morning in America. */
const peakHour = 15;

/** The outage comes after two thirds of the story, so that there is a before and an after. */
const outageDay = 57;
const outageHours = 7;
/** What is still sent while most of it fails. */
const sentInOutage = 0.7;

/** The rhythm that a stream gives a calendar. */
export function planRhythm(calendar: Calendar, stream: Stream): Rhythm {
  const random = new Random(stream, 0);
  const day = outageDay + random.below(7);
  const fromMs = calendar.startMs + day * dayMs + (9 + random.below(6)) * hourMs;
  return { ...calendar, stream, outage: { fromMs, untilMs: fromMs + outageHours * hourMs } };
}

/** Days since the start, with fractions. */
export const daysAt = ({ startMs }: Calendar, atMs: number): number => (atMs - startMs) / dayMs;

/** By what the chain has grown since its start. */
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
  const mood = Math.exp(0.09 * new Random(rhythm.stream, Math.floor(atMs / dayMs)).bell());
  const left = isOutage(rhythm, atMs) ? sentInOutage : 1;
  return growthAt(rhythm, atMs) * daily * weekly * mood * left;
}
