import './locale.ts';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { clock, date, dateTime, day, month, year } from './format.ts';

/** Values over time, one for each of the chart's times; null: none. */
export interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

interface TimeChartProps {
  readonly label: string;
  /** Milliseconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** Bars are stacked. */
  readonly kind: 'line' | 'bars';
  readonly format: (value: number) => string;
  /** The top of the axis; without it the highest value. */
  readonly most?: number;
  /** Charts with the same group share one crosshair. */
  readonly group?: string;
  /** Whether the days matter and not the clock. */
  readonly isDaily?: boolean;
}

/** Colours of series: none of them says that something is well or wrong. */
export const palette = '#4e79a7 #f28e2b #59a14f #b07aa1 #76b7b2 #edc948 #9c755f #8d99a6'.split(' ');
const daySeconds = 86_400;

/** Labels of a time axis in UTC; the first, and each of a new day or year, says of which it is. */
function timeLabels(_: uPlot, splits: number[], __: number, ___: number, step: number): string[] {
  if (step >= 28 * daySeconds) return splits.map((split) => month(split * 1_000));
  const [fine, coarse] = step >= daySeconds ? [day, year] : [clock, day];
  return splits.map((split, at) => {
    const isSame = at > 0 && coarse((splits[at - 1] ?? 0) * 1_000) === coarse(split * 1_000);
    return isSame ? fine(split * 1_000) : `${fine(split * 1_000)}\n${coarse(split * 1_000)}`;
  });
}

/** The whole of x with room for half a bar at both ends; a single time is in the middle of four weeks. */
function wholeOf(times: ArrayLike<number>, kind: TimeChartProps['kind']): uPlot.Range.MinMax {
  const [from, to] = [times[0], times[times.length - 1]];
  if (from === undefined || to === undefined) return [null, null];
  const half = (to - from) / Math.max(1, times.length - 1) / 2;
  const room = from === to ? 14 * daySeconds : kind === 'bars' ? half : 0;
  return [from - room, to + room];
}

/** Each layer on top of those before it. */
function stacked(series: readonly Series[]): number[][] {
  const sums: number[] = [];
  return series.map(({ values }) =>
    values.map((value, at) => (sums[at] = (sums[at] ?? 0) + (value ?? 0))),
  );
}

function optionsOf(props: TimeChartProps, element: HTMLElement): uPlot.Options {
  const { kind, series, format, most, group } = props;
  const { fontFamily } = getComputedStyle(element);
  const axis: uPlot.Axis = {
    // Light may turn to dark: a canvas does not follow the style sheet by itself.
    stroke: () => getComputedStyle(element).color,
    font: `12px ${fontFamily}`,
    grid: { stroke: '#8884', width: 1 },
    ticks: { show: false },
  };
  const paths = uPlot.paths.bars?.({ size: [0.9, 60] });
  const drawn = series.map((_, at): uPlot.Series => {
    const stroke = palette[at % palette.length] ?? '';
    if (kind === 'line') return { stroke, width: 2, spanGaps: true, points: { size: 4 } };
    return { stroke, width: 0, fill: stroke, points: { show: false }, ...(paths && { paths }) };
  });
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    legend: { show: false },
    cursor: { y: false, drag: { x: false }, ...(group && { sync: { key: group } }) },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    scales: {
      x: { range: ({ data: [times] }) => wholeOf(times, kind) },
      y: { range: (_, __, highest) => [0, most ?? (highest > 0 ? highest * 1.05 : 60)] },
    },
    axes: [
      { ...axis, values: timeLabels },
      { ...axis, size: 64, values: (_, splits) => splits.map(format) },
    ],
    series: [{}, ...(kind === 'bars' ? drawn.toReversed() : drawn)],
  };
}

/** The highest layer of a stack is drawn first, so that the others are in front of it. */
function dataOf({ times, series, kind }: TimeChartProps): uPlot.AlignedData {
  const values = series.map((each) => [...each.values]);
  const drawn = kind === 'bars' ? stacked(series).toReversed() : values;
  return [times.map((ms) => ms / 1_000), ...drawn];
}

/** Draws into an element, and says at which of the times the crosshair is. */
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
    const resize = () => made.setSize({ width: target.clientWidth, height: target.clientHeight });
    const observer = new ResizeObserver(resize);
    observer.observe(target);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [props.kind, props.series.map(({ label }) => label).join('\n')]);
  useEffect(() => plot.current?.setData(dataOf(props)), [props.times, props.series]);
  /** Left and right move the crosshair by one, as a pointer does. */
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

/** A chart over time with a crosshair. Its legend shows the values under the crosshair, else the newest. */
export function TimeChart(props: TimeChartProps) {
  const { label, times, series, format, isDaily } = props;
  const { element, at, move } = usePlot(props);
  const time = times[at ?? times.length - 1];
  const valueOf = ({ values }: Series) => {
    const value = at === null ? values.findLast((each) => each !== null) : values[at];
    return value === null || value === undefined ? '–' : format(value);
  };
  return (
    <figure>
      <ul class="row legend" aria-live="polite">
        <li class="at">{time !== undefined && (isDaily ? date : dateTime)(time)}</li>
        {series.map((each, index) => (
          <li key={each.label}>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <rect fill={palette[index % palette.length]} width={10} height={10} />
            </svg>
            {each.label} <b>{valueOf(each)}</b>
          </li>
        ))}
      </ul>
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
