import { max, sum } from 'd3-array';
import { scaleLinear, scaleUtc } from 'd3-scale';
import { utcFormat } from 'd3-time-format';
import { compact, percent } from '../../terminal/numbers.ts';
import { plain } from '../foreign.ts';
import { html, type Html } from '../html.ts';
import type { AnswerColumn, Chart, Table } from './facts.ts';

/** Of a chart, in CSS pixels; it is as wide as its panel. */
const height = 180;
const below = 22;
const above = 14;
/** Colours that can be told apart; what comes after them is one series. */
const mostSeries = 5;

/** Characters of a series' name. */
const longestName = 40;

const dayMs = 86_400_000;

interface Bar {
  readonly x: number;
  readonly series: string;
  readonly value: number;
  /** The place as the answer has it. */
  readonly at: string;
}

/** Columns of numbers, side by side along time or hours, on top of each other where there are several series. */
export function bars(table: Table, { of, by, split }: Chart): Html {
  const read = readBars(table, of, by, split);
  if (read === null) return html``;
  const { all, step, isTime } = read;
  const series = seriesOf(all);
  const places = Map.groupBy(all, ({ x }) => x);
  const highest = max(places.values(), (stack) => sum(stack, ({ value }) => value)) ?? 0;
  if (highest <= 0) return html``;
  const from = Math.min(...places.keys());
  const to = Math.max(...places.keys()) + step;
  const x = scaleLinear([from, to], [0, 100]);
  const y = scaleLinear([0, highest], [height - below, above]).nice(3);
  const top = [...places.values()].find(
    (stack) => sum(stack, ({ value }) => value) === highest,
  )?.[0];
  const marks = y.ticks(3).filter((tick) => tick > 0);
  const title = `${of} by ${by ?? ''}`;
  return html`<figure class="bars">
    <svg width="100%" height="${height}" role="img" aria-label="${title}">
      <desc>
        Highest: ${compact(highest)} at ${top?.at}. The table below has the values of its first
        rows.
      </desc>
      ${y
        .ticks(3)
        .map(
          (tick) =>
            html`<line
              class="grid"
              x1="0"
              x2="100%"
              y1="${round(y(tick))}"
              y2="${round(y(tick))}"
            />`,
        )}
      ${[...places.values()].map((stack) => stacked(stack, series, { x, y, step }))}
      ${marks.map((tick) => html`<text x="0" y="${round(y(tick) - 3)}">${compact(tick)}</text>`)}
      ${ticksOf(from, to, isTime).map(
        ({ at, label }) =>
          html`<text
            x="${round(x(at + (isTime ? dayMs : step) / 2))}%"
            y="${height - 6}"
            text-anchor="middle"
            >${label}</text
          >`,
      )}
    </svg>
    ${
      series.length < 2
        ? html`<figcaption class="quiet">${title}</figcaption>`
        : html`<figcaption class="quiet">
            ${title}:
            ${series.map(
              (name, at) => html`<span class="series-${at + 1}"><i></i> <bdi>${name}</bdi></span> `,
            )}
          </figcaption>`
    }
  </figure>`;
}

const round = (value: number) => Math.round(value * 100) / 100;

const others = 'others';

/** The largest first. */
function seriesOf(all: readonly Bar[]): readonly string[] {
  const sums = [...Map.groupBy(all, ({ series }) => series)]
    .map(([name, own]) => ({ name, total: sum(own, ({ value }) => value) }))
    .toSorted((one, other) => other.total - one.total || (one.name < other.name ? -1 : 1));
  const names = sums.map(({ name }) => name);
  return names.length <= mostSeries ? names : [...names.slice(0, mostSeries - 1), others];
}

function stacked(
  stack: readonly Bar[],
  series: readonly string[],
  { x, y, step }: { x: (at: number) => number; y: (value: number) => number; step: number },
): Html {
  const placeOf = (name: string) => {
    const at = series.indexOf(name);
    return at === -1 ? series.length - 1 : at;
  };
  let base = 0;
  return html`${stack
    .toSorted((one, other) => placeOf(one.series) - placeOf(other.series))
    .map((bar) => {
      const [low, high] = [base, base + bar.value];
      base = high;
      const name = series.length < 2 ? '' : `, ${bar.series}`;
      return html`<rect
        class="series-${placeOf(bar.series) + 1}"
        x="${round(x(bar.x + step * 0.08))}%"
        width="${round(x(bar.x + step * 0.84) - x(bar.x))}%"
        y="${round(y(high))}"
        height="${round(y(low) - y(high))}"
        ><title>${bar.at}${name}: ${bar.value}</title></rect
      >`;
    })}`;
}

function ticksOf(from: number, to: number, isTime: boolean) {
  // The first and the last label would stand across the edge.
  const [left, right] = [from + (to - from) * 0.04, to - (to - from) * 0.04];
  if (!isTime) {
    return scaleLinear([from, to], [0, 1])
      .ticks(8)
      .filter((at) => Number.isInteger(at) && at >= left && at < right)
      .map((at) => ({ at, label: String(at) }));
  }
  const scale = scaleUtc([from, to], [0, 1]);
  const format = utcFormat(to - from > 300 * dayMs ? '%Y-%m' : '%b %e');
  return scale
    .ticks(5)
    .map((at) => ({ at: at.getTime(), label: format(at) }))
    .filter(({ at }) => at >= left && at <= right);
}

/** What is drawn of an answer; null where it does not have these columns, or no row that has a place. */
function readBars(
  { columns, rows }: Table,
  of: string,
  by: string | null,
  split: string | null,
): { readonly all: readonly Bar[]; readonly step: number; readonly isTime: boolean } | null {
  const at = (name: string | null) => columns.findIndex((column) => column.name === name);
  const [measure, place, part, chain] = [at(of), at(by), at(split), at('chain_id')];
  const placed = columns[place];
  if (measure === -1 || placed === undefined) return null;
  const isTime = !placed.isNumber;
  const chains = new Set(rows.map((row) => row[chain]));
  const all = rows.flatMap((row): Bar[] => {
    const told = row[place];
    if (told === null || told === undefined) return [];
    const x = isTime ? Date.parse(told) : Number(told);
    const value = Number(row[measure] ?? 0);
    const names = [
      ...(chains.size > 1 ? [`chain ${row[chain]}`] : []),
      ...(part === -1 ? [] : [plain(row[part] ?? 'not told', longestName)]),
    ];
    const isDrawn = Number.isFinite(x) && Number.isFinite(value) && value > 0;
    return isDrawn ? [{ x, value, series: names.join(' '), at: told }] : [];
  });
  if (all.length === 0) return null;
  return { all, isTime, step: isTime ? stepOf(all) : 1 };
}

/** The shortest time between two places; of one alone a day. */
function stepOf(all: readonly Bar[]): number {
  const places = [...new Set(all.map(({ x }) => x))].toSorted((one, other) => one - other);
  const steps = places.slice(1).map((place, at) => place - (places[at] ?? place));
  return steps.length === 0 ? dayMs : Math.min(...steps);
}

/** A bar in a row of a table: how much of the largest it is. */
export function rowBar(value: string | null | undefined, largest: number): Html {
  const share = largest > 0 ? Math.max(0, Number(value ?? 0) / largest) : 0;
  return html`<svg width="100%" height="10" aria-hidden="true">
    <rect class="series-1" width="${round(100 * share)}%" height="10">
      <title>${percent(share)} of the largest</title>
    </rect>
  </svg>`;
}

/** The largest number of a column. */
export const largestOf = ({ rows }: Table, column: number): number =>
  max(rows, (row) => Number(row[column] ?? 0)) ?? 0;

/** Where a column stands; -1: nowhere. */
export const placeOf = (columns: readonly AnswerColumn[], name: string): number =>
  columns.findIndex((column) => column.name === name);
