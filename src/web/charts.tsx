// First: it fixes the browser's language for uPlot.
import { clock, date, dateTime, day, month, percent, year } from './format.ts';
import type { ComponentChildren, SVGAttributes } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { QueriesDocument, StripsDocument } from '../status/endpoints.ts';

/** The colour, and the top and height in tenths. */
type Look = readonly [fill: string, y: number, height: number];

/** A look between two places of the axis, and its text for a pointer. */
export interface Shape {
  readonly look: Look;
  readonly from: number;
  readonly to: number;
  readonly title?: string;
}

type StripProps = Omit<SVGAttributes<SVGSVGElement>, 'class'> & {
  readonly shapes: readonly Shape[];
  /** The axis goes from 0 to here. */
  readonly end: number;
  readonly class?: string;
};

/** Minimum visible width, in shares of the axis. */
const leastWidth = 0.004;

/** Shapes on an axis of the available width. Without a label it is decoration. */
export const Strip = ({ shapes, end, class: kind = '', ...rest }: StripProps) => (
  <svg
    class={`strip ${kind}`}
    role="img"
    aria-hidden={rest['aria-label'] === undefined}
    viewBox={`0 0 ${end} 10`}
    preserveAspectRatio="none"
    {...rest}
  >
    {shapes.map(({ look: [fill, y, height], from, to, title }, at) => (
      <rect
        key={at}
        fill={fill}
        x={Math.min(from, end * (1 - leastWidth))}
        y={y}
        width={Math.max(to - from, end * leastWidth)}
        height={height}
      >
        {title !== undefined && <title>{title}</title>}
      </rect>
    ))}
  </svg>
);

interface LegendProps {
  readonly of: readonly (readonly [label: string, look: Look, value?: string])[];
  readonly children?: ComponentChildren;
}

export const Legend = ({ of, children }: LegendProps) => (
  <ul class="row legend" aria-live="polite">
    {children}
    {of.map(([label, look, value]) => (
      <li key={label}>
        <Strip shapes={[{ look, from: 0, to: 10 }]} end={10} />
        {label} <b>{value}</b>
      </li>
    ))}
  </ul>
);

type CellState = StripsDocument['feeds'][number]['cells'][number];

/** Each state has its own form beside its colour; the most important is first, and on top. */
const coverage = {
  gap: ['gap', ['var(--act)', 0, 10]],
  quarantined: ['quarantined', ['var(--act)', 0, 5]],
  reading: ['reading', ['var(--busy)', 2, 6]],
  unverified: ['not verified yet', ['var(--unverified)', 3.5, 3]],
  verified: ['verified', ['var(--verified)', 2, 6]],
  'out-of-range': ['out of range', ['var(--faint)', 4.4, 1.2]],
  unknown: ['unknown', ['var(--faint)', 4.4, 1.2]],
} as const satisfies Record<CellState, readonly [string, Look]>;

const cellStates = Object.keys(coverage) as CellState[];
export const stateWord = (state: CellState): string => coverage[state][0];

/** The last form needs no label. */
export const CoverageLegend = () => <Legend of={Object.values(coverage).slice(0, -1)} />;

type Part = Pick<Shape, 'from' | 'to'> & { readonly state: CellState };
type CoverageStripProps = Omit<StripProps, 'shapes'> & { of: string; parts: readonly Part[] };

/** Coverage of a list; its label has the share of each state. */
export function CoverageStrip({ of, parts, end, ...rest }: CoverageStripProps) {
  const shares = cellStates.flatMap((state) => {
    const own = parts.filter((part) => part.state === state);
    const sum = own.reduce((total, { from, to }) => total + to - from, 0);
    return sum === 0 ? [] : [`${stateWord(state)} ${percent(sum / end)}`];
  });
  const rank = ({ state }: Part) => cellStates.indexOf(state);
  const shapes = parts
    .toSorted((a, b) => rank(b) - rank(a))
    .map(({ state, ...range }) => ({ look: coverage[state][1], ...range }));
  const label = `Coverage of ${of}: ${shares.join(', ') || 'not known yet'}`;
  return <Strip shapes={shapes} end={end} aria-label={label} {...rest} />;
}

const dayMs = 86_400_000;
const dayS = dayMs / 1_000;

/** Start, middle and end of a strip; with years unless it covers only days. */
export function Axis({ from, to }: { readonly from: string; readonly to: string }) {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const span = end - start;
  const label = span > 90 * dayMs ? month : span > 3 * dayMs ? date : clock;
  const first = label === clock ? dateTime : label;
  return <Ends labels={[first(start), label(start + span / 2), label(end)]} />;
}

export const Ends = ({ labels }: { readonly labels: readonly string[] }) => (
  <span class="row axis">
    {labels.map((label, at) => (
      <span key={at}>{label}</span>
    ))}
  </span>
);

/** A value for each of the chart's times; null: none. */
interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

interface TimeChartProps {
  readonly label: string;
  /** Milliseconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** Bars are stacked; shares are bars of 100. */
  readonly kind: NonNullable<QueriesDocument['queries'][number]['chart']>['kind'];
  readonly format: (value: number) => string;
  /** Distances of values on the axis; absent: round numbers. */
  readonly steps?: number[];
}

/** Colours that do not mean success or failure. */
const palette = '#4e79a7 #f28e2b #59a14f #b07aa1 #76b7b2 #edc948 #9c755f #8d99a6'.split(' ');
export const mostSeries = palette.length;
const colour = (at: number) => palette[at % mostSeries] ?? '';

/** Labels of a time axis in UTC; the first, and the first of a day or year, includes it. */
function timeLabels(_: uPlot, splits: number[], __: number, ___: number, step: number): string[] {
  const isMonthly = step >= 28 * dayS;
  const [fine, coarse] = step >= dayS ? [day, year] : [clock, day];
  return splits.map((split, at) => {
    const [ms, lastMs] = [split * 1_000, (splits[at - 1] ?? 0) * 1_000];
    if (isMonthly) return month(ms);
    return coarse(lastMs) === coarse(ms) ? fine(ms) : `${fine(ms)}\n${coarse(ms)}`;
  });
}

/** All of x plus half a step at both ends; a single time is the middle of its day, or of ten minutes. */
function wholeOf(times: ArrayLike<number>): uPlot.Range.MinMax {
  const [from, to] = [times[0], times[times.length - 1]];
  if (from === undefined || to === undefined) return [null, null];
  const half = (to - from) / times.length / 2 || (from % dayS === 0 ? dayS : 600) / 2;
  return [from - half, to + half];
}

/** The least distance of labels in px: days have no hours between them. */
const spaceOf: uPlot.Axis.Space = ({ data: [times] }, _, from, to, width) =>
  times.every((time) => time % dayS === 0) ? Math.max(50, (width * dayS) / (to - from)) : 50;

/** The value of a series that has no other, which no line shows. */
function alone({ data }: uPlot, at: number, isShown: boolean): number[] | null {
  const known = [...(data[at] ?? [])].flatMap((value, index) => (value === null ? [] : [index]));
  return isShown || known.length !== 1 ? null : known;
}

function optionsOf(
  { kind, series, format, steps }: TimeChartProps,
  element: Element,
): uPlot.Options {
  const isLine = kind === 'line';
  const axis: uPlot.Axis = {
    // A canvas does not follow a change between light and dark by itself.
    stroke: () => getComputedStyle(element).color,
    font: `12px ${getComputedStyle(element).fontFamily}`,
    grid: { stroke: '#8884', width: 1 },
    ticks: { show: false },
  };
  const paths = uPlot.paths.bars?.({ size: [0.9, 60] });
  const drawn = series.map((_, at): uPlot.Series => {
    const stroke = colour(at);
    if (isLine) return { stroke, width: 2, spanGaps: true, points: { size: 4, filter: alone } };
    return { stroke, width: 0, fill: stroke, points: { show: false }, ...(paths && { paths }) };
  });
  const values: uPlot.Axis = { ...axis, size: 64, values: (_, splits) => splits.map(format) };
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    legend: { show: false },
    cursor: { y: false, drag: { x: false }, sync: { key: 'page' } },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    scales: {
      x: { range: ({ data: [times] }) => wholeOf(times) },
      y: { range: (_, __, highest) => [0, kind === 'shares' ? 100 : highest * 1.05 || 60] },
    },
    axes: [
      { ...axis, values: timeLabels, space: spaceOf },
      { ...values, ...(steps && { incrs: steps }) },
    ],
    series: [{}, ...(isLine ? drawn : drawn.toReversed())],
  };
}

/** Layers of bars are sums; the highest is drawn first, behind the others. */
function dataOf({ times, series, kind }: TimeChartProps): uPlot.AlignedData {
  const seconds = times.map((ms) => ms / 1_000);
  if (kind === 'line') return [seconds, ...series.map(({ values }) => [...values])];
  const sums = times.map(() => 0);
  const add = (value: number | null, at: number) => (sums[at] = (sums[at] ?? 0) + (value ?? 0));
  return [seconds, ...series.map(({ values }) => values.map(add)).toReversed()];
}

/** Draws into an element. @returns the index of the crosshair's time */
function usePlot(props: TimeChartProps) {
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const [at, setAt] = useState<number | null>(null);
  useEffect(() => {
    const target = element.current;
    if (target === null) return undefined;
    const hooks = { setCursor: [({ cursor }: uPlot) => setAt(cursor.idx ?? null)] };
    const made = new uPlot({ ...optionsOf(props, target), hooks }, dataOf(props), target);
    plot.current = made;
    const observer = new ResizeObserver(() => {
      made.setSize({ width: target.clientWidth, height: target.clientHeight });
    });
    observer.observe(target);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [props.kind, props.series.map(({ label }) => label).join('\n')]);
  useEffect(() => plot.current?.setData(dataOf(props)), [props.times, props.series]);
  /** Left and right move the crosshair by one. */
  const move = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined || plot.current === null) return;
    event.preventDefault();
    const last = props.times.length - 1;
    const next = Math.min(last, Math.max(0, at === null ? last : at + step));
    const left = plot.current.valToPos((props.times[next] ?? 0) / 1_000, 'x');
    plot.current.setCursor({ left, top: 1 });
  };
  return { element, at, move };
}

/** A chart over time. The legend shows the values at the crosshair, otherwise the newest. */
export function TimeChart(props: TimeChartProps) {
  const { label, times, series, format } = props;
  const { element, at, move } = usePlot(props);
  const time = times[at ?? times.length - 1];
  const timeText = times.every((ms) => ms % dayMs === 0) ? date : dateTime;
  const valueText = ({ values }: Series) => {
    const value = at === null ? values.findLast((each) => each !== null) : values[at];
    return value === null || value === undefined ? '–' : format(value);
  };
  return (
    <figure>
      <Legend
        of={series.map((each, index) => [each.label, [colour(index), 0, 10], valueText(each)])}
      >
        <li>{time !== undefined && timeText(time)}</li>
      </Legend>
      <div
        ref={element}
        class="plot"
        role="img"
        tabIndex={0}
        aria-label={`${label}: ${times.length} points. The arrow keys read them.`}
        onKeyDown={move}
      />
    </figure>
  );
}

export const Bar = ({ value, most }: { readonly value: number; readonly most: number }) => (
  <Strip shapes={[{ look: [colour(0), 0, 10], from: 0, to: value }]} end={most} />
);
