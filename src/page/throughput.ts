import { max, sum } from 'd3-array';
import { printable } from '../printable.ts';
import { compact, whole } from '../terminal/numbers.ts';
import type { TimeWindow } from '../time-window.ts';
import { chart, type Holes, type Spot } from './charts/chart.ts';
import { figure, holePattern, numbersTable, type Key } from './charts/figure.ts';
import { holesOf } from './charts/marks.ts';
import { levelScale } from './charts/scale.ts';
import { spanLinks, spans, type Span } from './charts/span.ts';
import { stackedAreas, stackedBars } from './charts/stack.ts';
import { stepsOf, type Step } from './charts/steps.ts';
import { stretchText, timeAxis } from './charts/time.ts';
import { html, type Html } from './html.ts';
import {
  classesOf,
  lanes,
  perMinute,
  timesByClass,
  workOf,
  type ThroughputBin,
} from './throughput/bins.ts';

export interface ThroughputFacts {
  /** The present, in ms. */
  readonly at: number;
  readonly query: URLSearchParams;
  readonly span: Span;
  readonly window: TimeWindow;
  /** Those in which somebody worked. */
  readonly bins: readonly ThroughputBin[];
}

/** What all charts of the panel are made of. */
interface Parts extends ThroughputFacts {
  readonly steps: readonly Step<ThroughputBin>[];
  readonly holes: Holes;
}

const pattern = 'throughput-hole';

/** What the lanes did: requests that failed, rows, requests. */
export function throughput(facts: ThroughputFacts): Html {
  const { query, span, window, bins, at } = facts;
  const offered = Object.values(spans);
  const choice = spanLinks({ panel: 'throughput', query, chosen: span, offered });
  if (bins.length === 0) {
    return html`${choice}
      <p class="quiet">
        Nothing is noted of this time: whoever works notes once a minute what was done.
      </p>`;
  }
  const noted = bins.map(({ bin }) => bin);
  const holes = { stretches: holesOf(window, noted, at), pattern };
  const steps = stepsOf(window, span.stepSeconds, bins).filter((step) => step.bins.length > 0);
  const parts: Parts = { ...facts, steps, holes };
  return html`${choice}${holePattern(pattern)}${failureChart(parts)}
  ${laneChart(parts, { caption: 'Rows a minute', work: 'rows', height: 110 })}
  ${laneChart(parts, { caption: 'Requests a minute', work: 'requests', height: 80 })}
  ${timeAxis(window)}
  ${holes.stretches.length > 0 ? html`<p class="quiet">Hatched: nobody worked.</p>` : ''}
  ${table(parts)}`;
}

/** What a chart by lane shows. */
interface LaneChart {
  readonly caption: string;
  readonly work: 'rows' | 'requests';
  readonly height: number;
}

function laneChart(parts: Parts, { caption, work, height }: LaneChart): Html {
  const { window, bins, span, holes } = parts;
  const rateOf = (some: readonly ThroughputBin[], lane: string) =>
    perMinute(some, workOf(some, lane, work));
  const most = max(bins, (bin) => sum(lanes, (lane) => rateOf([bin], lane))) ?? 0;
  const { toY, levels } = levelScale(most, height);
  const totals = lanes.map((lane) => ({ lane, total: workOf(bins, lane, work) }));
  const said = totals.map(({ lane, total }) => `${lane} ${whole(total)} in all`).join(', ');
  const drawn = chart({
    window,
    height,
    label: `${caption}, ${span.label}: ${said}; at most ${rateText(most)} a minute`,
    marks: stackedAreas({ bins, names: lanes, valueOf: (bin, lane) => rateOf([bin], lane), toY }),
    levels,
    holes,
    spots: spotsOf(
      parts,
      (some) =>
        `${lanes.map((lane) => `${lane} ${rateText(rateOf(some, lane))}`).join(', ')} ${work} a minute`,
    ),
  });
  const keys = totals.map(({ lane, total }): Key => ({
    name: lane,
    label: `${lane} ${compact(total)} in all`,
  }));
  return figure(caption, keys, drawn);
}

const failureHeight = 40;

function failureChart(parts: Parts): Html {
  const { window, bins, span, holes } = parts;
  const classes = classesOf(bins);
  const markOf = (failure: string) => `failure-${classes.indexOf(failure) + 1}`;
  const byMark = new Map(classes.map((failure) => [markOf(failure), failure]));
  const valueOf = (bin: ThroughputBin, mark: string) =>
    perMinute([bin], timesByClass([bin], classes).get(byMark.get(mark) ?? '') ?? 0);
  const names = [...byMark.keys()];
  const most = max(bins, (bin) => sum(names, (mark) => valueOf(bin, mark))) ?? 0;
  const { toY, levels } = levelScale(most, failureHeight);
  const drawn = chart({
    window,
    height: failureHeight,
    label: `Requests that failed, ${span.label}: ${failuresText(bins, classes)}`,
    marks: stackedBars({ bins, names, valueOf, toY }),
    levels: most > 0 ? levels : [],
    holes,
    spots: spotsOf(parts, (some) => `failed: ${failuresText(some, classes)}`),
  });
  const keys = [...timesByClass(bins, classes)].map(([failure, times]): Key => ({
    name: markOf(failure),
    label: `${printable(failure)} ${compact(times)}`,
  }));
  return figure(`Failed requests a minute${classes.length === 0 ? ': none' : ''}`, keys, drawn);
}

/** How often requests failed in which way. */
function failuresText(bins: readonly ThroughputBin[], classes: readonly string[]): string {
  const told = [...timesByClass(bins, classes)]
    .filter(([, times]) => times > 0)
    .map(([failure, times]) => `${printable(failure)} ${whole(times)}`);
  return told.length === 0 ? 'none' : told.join(', ');
}

const spotsOf = (
  { steps, span: { stepSeconds } }: Parts,
  text: (bins: readonly ThroughputBin[]) => string,
): Spot[] =>
  steps.map(({ from, to, bins }) => ({
    from,
    to,
    text: `${stretchText(from, stepSeconds)} UTC: ${text(bins)}`,
  }));

function table({ span, steps }: Parts): Html {
  const heads = lanes.flatMap((lane) => [`${lane} rows`, `${lane} requests`]);
  return numbersTable(
    'The numbers of throughput',
    ['UTC', ...heads, 'failed', 'minutes worked'],
    steps.map(({ from, bins }) => [
      stretchText(from, span.stepSeconds),
      ...lanes.flatMap((lane) =>
        [workOf(bins, lane, 'rows'), workOf(bins, lane, 'requests')].map(whole),
      ),
      whole(sum(bins, ({ failures }) => sum(Object.values(failures)))),
      whole(sum(bins, ({ minutes }) => minutes)),
    ]),
  );
}

/** A rate with as many digits as tell something. */
const rateText = (rate: number): string =>
  rate > 0 && rate < 10 ? String(Math.max(0.1, Math.round(rate * 10) / 10)) : whole(rate);
