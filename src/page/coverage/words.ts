import { counted, whole } from '../../terminal/numbers.ts';
import type { RibbonView, SegmentState, SegmentView } from './view.ts';

/** What each state is called: beside its colour and pattern, so that neither has to be seen. */
export const stateNames: Readonly<Record<SegmentState, string>> = {
  proved: 'proved',
  reading: 'being read',
  waiting: 'waits for the next batch',
  missing: 'missing',
  doubtful: 'read, not proved',
  unknown: 'nobody has looked',
  unwanted: 'not wanted',
};

/** A moment to the minute, UTC, as the page says below. */
export const moment = (at: number | string): string =>
  new Date(at).toISOString().slice(0, 16).replace('T', ' ');

const countedIn = (unit: RibbonView['unit'], count: number): string =>
  unit === 'block' ? counted(count, 'block') : counted(count, 'batch', 'batches');

/** `blocks 5 to 9`. */
export function rangeOf(unit: RibbonView['unit'], from: number, to: number): string {
  if (from === to) return `${unit} ${whole(from)}`;
  return `${unit === 'block' ? 'blocks' : 'batches'} ${whole(from)} to ${whole(to)}`;
}

/** How many there are, and in how many places where that is more than one. */
export function extentOf(
  unit: RibbonView['unit'],
  { numbers, pieces, state }: SegmentView,
): string {
  const count = countedIn(unit, numbers);
  return pieces > 1 && state !== 'proved' ? `${count} in ${whole(pieces)} places` : count;
}

/** When its ends were; empty where nobody knows. */
export function timesOf({ fromAt, toAt }: SegmentView): string {
  if (fromAt === null && toAt === null) return '';
  if (fromAt === null || toAt === null) return `about ${moment(fromAt ?? toAt ?? 0)}`;
  const [from, to] = [moment(fromAt), moment(toAt)];
  return from === to ? from : `${from} to ${to}`;
}

/** Which walks bear it out. */
export function walksOf({ walks, state }: SegmentView): string {
  if (walks === null) return '';
  const { first, last, lanes, isCut } = walks;
  const which =
    first === last
      ? `walk ${first}`
      : `${isCut ? 'at least ' : ''}${counted(walks.walks, 'walk')}, ${first} to ${last}`;
  return `${state === 'reading' ? 'near it ' : ''}${which} (${lanes.join(', ')})`;
}

/** As of when its oldest part is proved, and its newest. */
export function asOf({ walks }: SegmentView): string {
  if (walks === null) return '';
  const [oldest, newest] = [moment(walks.oldest), moment(walks.newest)];
  return oldest === newest ? oldest : `${oldest} to ${newest}`;
}

/** All of a segment in a sentence: what a pointer is told that rests on it. */
export function sentence(view: RibbonView, segment: SegmentView): string {
  const { unit } = view;
  const parts = [
    `${rangeOf(unit, segment.from, segment.to)}: ${stateOf(view, segment)}`,
    extentOf(unit, segment),
    timesOf(segment),
    segment.walks === null ? '' : `as of ${asOf(segment)}, by ${walksOf(segment)}`,
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

/** A walk that was begun and that nobody is on is no walk in flight. */
export const stateOf = ({ isWorked }: RibbonView, { state }: SegmentView): string =>
  state === 'reading' && !isWorked ? 'begun, and nobody is on it' : stateNames[state];

/** What a hole costs. */
export const costOf = ({ pages }: SegmentView, creditsPerPage: number): string =>
  pages === null
    ? 'cost not known'
    : `about ${counted(pages, 'page')}, ${counted(pages * creditsPerPage, 'credit')}`;
