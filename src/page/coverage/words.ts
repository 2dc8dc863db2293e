import { counted, whole } from '../../terminal/numbers.ts';
import type { FeedFacts, Heights, PartState, SegmentFacts, WitnessFacts } from './facts.ts';

/** What each state is called, in the legend and wherever a colour says it. */
export const stateNames: Readonly<Record<PartState, string>> = {
  proved: 'proved complete',
  flight: 'in flight',
  waiting: 'read, waits for the next batch',
  held: 'held up by quarantine',
  gap: 'gap',
  unknown: 'unknown',
  unwanted: 'not wanted',
};

const explained: Readonly<Record<PartState, string>> = {
  proved: 'nothing is missing that the explorer listed',
  flight: 'a walk is reading it',
  waiting: 'what is to come proves it',
  held: 'an item stands in quarantine',
  gap: 'wanted, and missing or not proved',
  unknown: 'never read: nobody knows whether the list goes on here',
  unwanted: 'not asked for by the configuration',
};

/** So many blocks or batches. */
export const amount = (count: number, unit: FeedFacts['unit']): string =>
  unit === 'blocks' ? counted(count, 'block') : counted(count, 'batch', 'batches');

/** `blocks 100 to 200`, or one of them. */
export function heights({ from, to }: Heights, unit: FeedFacts['unit']): string {
  const one = unit === 'blocks' ? 'block' : 'batch';
  return from === to ? `${one} ${whole(from)}` : `${unit} ${whole(from)} to ${whole(to)}`;
}

/** What a segment is, with what share of it is so where others hide in it. */
export function whatIs(segment: SegmentFacts, { unit, isWorked }: FeedFacts): string {
  const { state, count, ranges, from, to } = segment;
  const size = to - from + 1;
  const name = stateNames[state];
  const why =
    state === 'flight' && !isWorked ? 'begun, and nobody is reading on now' : explained[state];
  if (count >= size) return `${name}: ${why}`;
  const where = ranges > 1 ? ` in ${counted(ranges, 'range')}` : '';
  return `${name}: ${amount(count, unit)} of ${whole(size)}${where}, ${why}`;
}

/** To the minute, UTC. */
export const minute = (at: number | string): string =>
  new Date(at).toISOString().slice(0, 16).replace('T', ' ');

/** Which walks a segment rests on, and when they began. */
export function whoRead(witnesses: WitnessFacts): string {
  const { walks, isMore, first, last, lanes, oldest, newest } = witnesses;
  const numbers = first === last ? `walk ${first}` : `walks ${first} to ${last}`;
  const many = walks > 1 || isMore ? ` (${isMore ? 'more than ' : ''}${whole(walks)})` : '';
  const begun =
    minute(oldest) === minute(newest)
      ? `as of ${minute(oldest)}`
      : `as of ${minute(oldest)}, the newest of ${minute(newest)}`;
  return `${numbers}${many}, ${lanes.join(' and ')}; ${begun}`;
}
