import { longestChain, type PageOrder } from './order.ts';

/** An item that reports its time, by its place. */
export interface TimedPlace {
  readonly height: number;
  /** Unix time in ms. */
  readonly timeMs: number;
}

/** Chains speed up and pause: between two items lies at most this many times what their blocks usually take. */
const mostPace = 3;
/** Of fewer items one or two may be wrong. */
const fewest = 4;
/** Times are rounded, and batches are posted a little out of turn, in ms. */
const slackMs = 10_000;

/** The items of a page that are in order and report their time. */
export const timedPlaces = (order: PageOrder | null): TimedPlace[] =>
  order?.trusted.flatMap(({ height, timeMs }) => (timeMs === null ? [] : [{ height, timeMs }])) ??
  [];

/**
 * The time to which a page certainly goes back, Unix time in ms: that of the last but one of the items
 * whose times agree with each other and with the block numbers, if these are most of the page and of
 * what is above it. If they are not, or if their times stand still while the blocks go on, the page has
 * to confirm what the page above says: blocks of some chains come in bursts, so no pace fits most of
 * them. Then it is the later of both middle times. Null: nothing confirms the page yet. Pure.
 */
export function goesBackTo(
  above: readonly TimedPlace[],
  page: readonly TimedPlace[],
): number | null {
  if (above.length < fewest) return null;
  const all = [...above, ...page];
  const agreed = agreeing(all);
  const [first, last, lastButOne] = [agreed[0], agreed.at(-1), agreed.at(-2)];
  if (first === undefined || last === undefined || lastButOne === undefined) return null;
  const standsStill = first.height > last.height && first.timeMs <= last.timeMs;
  if (agreed.length * 2 > all.length && !standsStill) {
    return Math.max(last.timeMs, lastButOne.timeMs);
  }
  const [upper, lower] = [middleTime(above), middleTime(page)];
  return upper === null || lower === null ? null : Math.max(upper, lower);
}

/**
 * The time that half of the items are older than. Null of fewer than four, of which one or two may be
 * wrong, and if most report one time: a service that lost its times says the same of every page.
 */
function middleTime(items: readonly TimedPlace[]): number | null {
  const times = items.map(({ timeMs }) => timeMs).toSorted((a, b) => a - b);
  const [early, middle, late] = [1, 2, 3].map(
    (part) => times[Math.floor((times.length * part) / 4)],
  );
  return times.length < fewest || early === late ? null : (middle ?? null);
}

/** The most items, in the order of the list, between which as much time lies as their blocks allow. */
function agreeing(items: readonly TimedPlace[]): readonly TimedPlace[] {
  const msPerBlock = paceOf(items);
  return longestChain(items, (a, b) => {
    const ms = a.timeMs - b.timeMs;
    return ms >= -slackMs && ms <= slackMs + mostPace * msPerBlock * (a.height - b.height);
  });
}

/**
 * What a block usually takes: the median over items a quarter of the list apart. If one part of two
 * has wrong times, most of these pairs do not cross from one to the other.
 */
function paceOf(items: readonly TimedPlace[]): number {
  const apart = Math.max(1, Math.floor(items.length / 4));
  const paces = items.flatMap((item, index) => {
    const below = items[index + apart];
    if (below === undefined || below.height >= item.height) return [];
    return [(item.timeMs - below.timeMs) / (item.height - below.height)];
  });
  const median = paces.toSorted((a, b) => a - b)[Math.floor((paces.length - 1) / 2)];
  return Math.max(0, median ?? 0);
}
