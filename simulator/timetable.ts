import { activityAt, dayMs, hourMs, storyDays, type Rhythm } from './calendar.ts';
import { itemsPerRung, startOf, type Ladder } from './ladder.ts';
import { Random, type Stream } from './random.ts';
import { lastWhere } from './search.ts';

/** Block time of an Optimism chain. */
export const blockTimeMs = 2000;

const blocksPerHour = hourMs / blockTimeMs;

const storyHours = (storyDays * dayMs) / hourMs;

/** Each rung has blocks of its own. */
const mostRungsPerBlock = 0.5;

/** Which operations fall into which blocks of a chain that lives by the calendar. */
export interface Timetable extends Rhythm {
  readonly lowest: number;
  /** The newest height. */
  readonly head: number;
  /** The lowest height that a batch holds. */
  readonly batchesFloor: number;
  /** How many operations there are until the end. */
  readonly operations: number;
  readonly ladder: Ladder;
}

/** What a timetable is made for. */
interface Traffic {
  readonly lowest: number;
  /** How many operations the first 90 days hold. */
  readonly operations: number;
  readonly stream: Stream;
}

/** Spreads operations over blocks as the rhythm says. Throws a RangeError where they are too many. */
export function planTimetable(rhythm: Rhythm, traffic: Traffic): Timetable {
  const { lowest } = traffic;
  if (!(traffic.operations > 0)) throw new RangeError('a calendar needs operations');
  const heightAt = (atMs: number) => lowest + blocksBetween(rhythm.startMs, atMs);
  const head = heightAt(rhythm.endMs);
  const ladder = planLadder(rhythm, traffic);
  // The value of the highest rung is drawn, and may lie above the head.
  const rung = ladder.rungAt(head);
  const rungs = rung >= 0 && ladder.valueOf(rung) <= head ? rung + 1 : Math.max(0, rung);
  return {
    ...rhythm,
    lowest,
    head,
    batchesFloor: heightAt(rhythm.batchesFromMs),
    operations: startOf(rungs),
    ladder,
  };
}

/** How many blocks are mined from one time to another. */
export const blocksBetween = (fromMs: number, untilMs: number): number =>
  Math.floor((untilMs - fromMs) / blockTimeMs);

/** When a height was mined, milliseconds since 1970. */
export const minedAt = ({ startMs, lowest }: Timetable, height: number): number =>
  startMs + (height - lowest) * blockTimeMs;

/** Activity until each hour since the start, and how much of it makes a rung. */
interface Activity {
  readonly reached: readonly number[];
  readonly perRung: number;
}

function planLadder(rhythm: Rhythm, { lowest, operations, stream }: Traffic): Ladder {
  const { reached, perRung } = sumActivity(rhythm, operations / itemsPerRung);
  /** Where the blocks of a rung begin. */
  const floorOf = (rung: number) => {
    const wanted = rung * perRung;
    const hour = lastWhere(reached.length, (index) => (reached[index] ?? 0) <= wanted);
    const [from, to] = [reached[hour] ?? 0, reached[hour + 1] ?? Infinity];
    return lowest + Math.floor((hour + (wanted - from) / (to - from)) * blocksPerHour);
  };
  const rungAt = (height: number) => {
    const hours = (height + 0.5 - lowest) / blocksPerHour;
    const hour = Math.max(0, Math.min(Math.floor(hours), reached.length - 2));
    const [from, to] = [reached[hour] ?? 0, reached[hour + 1] ?? 0];
    // One more may begin in the second half of the block.
    let rung = Math.floor((from + (to - from) * (hours - hour)) / perRung) + 1;
    while (rung >= 0 && floorOf(rung) > height) rung -= 1;
    return rung;
  };
  const valueOf = (rung: number) => {
    const floor = floorOf(rung);
    return floor + new Random(stream, rung).below(floorOf(rung + 1) - floor);
  };
  return { rungAt, valueOf };
}

/** Sums up the hours until the end, and beyond as far as the next rungs reach. */
function sumActivity(rhythm: Rhythm, rungs: number): Activity {
  const { startMs, endMs } = rhythm;
  const reached = [0];
  const add = () => {
    const hour = reached.length - 1;
    reached.push((reached[hour] ?? 0) + activityAt(rhythm, startMs + hour * hourMs));
  };
  while (reached.length <= storyHours) add();
  const perRung = (reached[storyHours] ?? 0) / rungs;
  while (reached.length <= (endMs - startMs) / hourMs + 1) add();
  const wanted = (reached.at(-1) ?? 0) + 2 * perRung;
  while ((reached.at(-1) ?? Infinity) <= wanted) add();
  const busiest = Math.max(...reached.map((sum, hour) => sum - (reached[hour - 1] ?? 0)));
  if (!(busiest / perRung / blocksPerHour <= mostRungsPerBlock)) {
    throw new RangeError('more operations than the blocks of a calendar hold');
  }
  return { reached, perRung };
}
