import type { StripsDocument } from '../status/endpoints.ts';
import { clock, date, dateTime, month, percent } from './format.ts';

export type CellState = StripsDocument['feeds'][number]['cells'][number];

/**
 * How a state is drawn: word, colour, top and height in tenths. Each has a form of its own beside its colour, and
 * what matters stands out. The least important is drawn first.
 */
const looks = {
  unknown: ['unknown', 'faint', 4.6, 0.8],
  'out-of-range': ['out of range', 'faint', 4.6, 0.8],
  verified: ['verified', 'verified', 2, 6],
  unverified: ['not verified', 'unverified', 3.5, 3],
  reading: ['reading', 'accent', 2, 6],
  quarantined: ['quarantined', 'act', 0, 5],
  gap: ['gap', 'act', 0, 10],
} as const satisfies Record<CellState, readonly [string, string, number, number]>;

const states = Object.keys(looks) as CellState[];
export const stateWord = (state: CellState): string => looks[state][0];

/** A part of a strip, from the start of one cell or position to the start of another. */
export interface Part {
  readonly from: number;
  readonly to: number;
  readonly state: CellState;
}

/** Equal cells beside each other are one part. */
function partsOf(cells: readonly CellState[]): readonly Part[] {
  const starts = cells.keys().filter((at) => cells[at] !== cells[at - 1]);
  return starts.toArray().map((from, at, all) => ({
    from,
    to: all[at + 1] ?? cells.length,
    state: cells[from] ?? 'unknown',
  }));
}

/** A part so small that nobody would see it is drawn larger, in shares of the whole. */
const leastWidth = 0.004;

/** Parts of a whole that begins at 0, the most important on top. */
export const Shapes = ({ parts, width }: { parts: readonly Part[]; width: number }) =>
  parts
    .toSorted((a, b) => states.indexOf(a.state) - states.indexOf(b.state))
    .map(({ from, to, state }) => {
      const [, colour, y, height] = looks[state];
      const least = colour === 'act' ? leastWidth * width : 0;
      const shape = { x: from, y, height, width: Math.max(to - from, least) };
      return <rect key={from} fill={`var(--${colour})`} {...shape} />;
    });

/** What share each state has, in words, for who does not see it. */
export const describe = (parts: readonly Part[], width: number): string =>
  states
    .toReversed()
    .map((state) => {
      const own = parts.filter((part) => part.state === state);
      return [
        stateWord(state),
        own.reduce((sum, { from, to }) => sum + to - from, 0) / width,
      ] as const;
    })
    .filter(([, share]) => share > 0)
    .map(([word, share]) => `${word} ${percent(share)}`)
    .join(', ');

/** Cells of a feed on the axis that all feeds share. */
export function Strip({ cells }: { readonly cells: readonly CellState[] }) {
  const [parts, width] = [partsOf(cells), Math.max(1, cells.length)];
  return (
    <svg
      class="strip"
      role="img"
      aria-label={describe(parts, width) || 'Coverage is not known yet'}
      viewBox={`0 0 ${width} 10`}
      preserveAspectRatio="none"
    >
      <Shapes parts={parts} width={width} />
    </svg>
  );
}

const dayMs = 86_400_000;

/** Start, middle and end, each with its year unless the whole is of one day or two. */
export function Axis({ from, to }: { readonly from: string; readonly to: string }) {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const span = end - start;
  const label = span > 90 * dayMs ? month : span > 3 * dayMs ? date : clock;
  return (
    <span class="axis">
      <span>{(span > 3 * dayMs ? label : dateTime)(start)}</span>
      <span>{label(start + span / 2)}</span>
      <span>{label(end)}</span>
    </span>
  );
}

/** What the shapes mean. */
export const Legend = () => (
  <ul class="row legend">
    {states
      .filter((state) => state !== 'unknown')
      .toReversed()
      .map((state) => (
        <li key={state}>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <Shapes parts={[{ from: 0, to: 10, state }]} width={10} />
          </svg>
          {stateWord(state)}
        </li>
      ))}
  </ul>
);
