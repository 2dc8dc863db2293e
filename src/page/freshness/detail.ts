import { extent } from 'd3-array';
import { scaleLog } from 'd3-scale';
import { duration } from '../../terminal/numbers.ts';
import { chart, type Level, type Spot } from '../charts/chart.ts';
import { figure, numbersTable } from '../charts/figure.ts';
import { holesOf, linePath, middleOf, type Point } from '../charts/marks.ts';
import { chosenSpan, spanLinks } from '../charts/span.ts';
import { stepsOf, type Step } from '../charts/steps.ts';
import { stretchText, timeAxis } from '../charts/time.ts';
import { html, type Html } from '../html.ts';
import { holes, nameOf, type Feed, type FreshnessBin, type FreshnessFacts } from './facts.ts';
import { inWindow, worstOf } from './lines.ts';

const height = 150;

/** One list in large: both ages in their own units, with numbers to point at and to read. */
export function detail(feed: Feed, { status, query, day, month }: FreshnessFacts): Html {
  const chosen = chosenSpan(query, 'freshness-span');
  const { span, window, feeds } = chosen === month.span ? month : day;
  const bins = feeds.get(feed.feed) ?? [];
  const steps = stepsOf(window, span.stepSeconds, bins).filter(
    ({ bins: { length } }) => length > 0,
  );
  const at = Date.parse(status.as_of);
  const stretches = holesOf(
    window,
    bins.map(({ bin }) => bin),
    at,
  );
  const { toY, levels } = scaleOf(bins);
  const lineOf = (valueOf: (bin: FreshnessBin) => number | null, name: string) =>
    linePath(
      inWindow(window, bins).map((bin): Point => {
        const value = bin === null ? null : valueOf(bin);
        return bin === null || value === null ? null : [middleOf(bin.bin), toY(Math.max(1, value))];
      }),
      name,
    );
  const drawn = chart({
    window,
    height,
    label: `${nameOf(feed)}, ${span.label}: ${worstOf(bins, stretches)}`,
    marks: [
      lineOf(({ objective_s }) => objective_s, 'objective'),
      lineOf(({ lag_s }) => lag_s, 'lag'),
      lineOf(({ age_s }) => age_s, 'share'),
    ],
    levels,
    holes: { stretches, pattern: holes },
    spots: steps.map((step): Spot => ({
      from: step.from,
      to: step.to,
      text: spotText(step, span.stepSeconds),
    })),
  });
  return html`<h3>${nameOf(feed)}</h3>
    ${spanLinks({ panel: 'freshness', query, chosen: span, offered: [day.span, month.span] })}
    ${figure('Age, on a logarithmic scale', keys, html`${drawn}${timeAxis(window)}`)}
    ${numbersTable(
      'The numbers of freshness',
      ['UTC', 'since a look', 'objective', 'newest item'],
      steps.map((step) => [stretchText(step.from, span.stepSeconds), ...valuesOf(step)]),
    )}`;
}

const keys = [
  { name: 'share', label: 'since the last look' },
  { name: 'lag', label: 'of the newest item' },
  { name: 'objective', label: 'objective (dashed)' },
];

/** Heights that people know, in seconds. */
const known = [1, 10, 60, 600, 3600, 21_600, 86_400, 604_800, 2_592_000, 31_536_000];

function scaleOf(bins: readonly FreshnessBin[]) {
  const values = bins.flatMap(({ age_s, lag_s, objective_s }) =>
    [age_s, lag_s, objective_s].flatMap((value) => value ?? []),
  );
  const [least = 60, most = 600] = extent(values.map((value) => Math.max(1, value)));
  const toY = scaleLog()
    .domain([least / 1.3, most * 1.6])
    .range([height - 2, 2]);
  const levels = known
    .filter((value) => value > least / 1.2 && value < most * 1.5)
    .map((value): Level => ({ y: Math.round(toY(value)), label: duration(value) }));
  return { toY, levels };
}

const spotText = (step: Step<FreshnessBin>, seconds: number): string => {
  const [age = '', objective = '', lag = ''] = valuesOf(step);
  return `${stretchText(step.from, seconds)} UTC: ${age} since a look, objective ${objective}, newest item ${lag} old`;
};

/** The worst of a step. */
const valuesOf = ({ bins }: Step<FreshnessBin>): string[] => {
  const most = (valueOf: (bin: FreshnessBin) => number | null) =>
    told(Math.max(...bins.flatMap((bin) => valueOf(bin) ?? [])));
  return [
    most(({ age_s }) => age_s),
    told(Math.min(...bins.flatMap(({ objective_s }) => objective_s ?? []))),
    most(({ lag_s }) => lag_s),
  ];
};

const told = (seconds: number): string => (Number.isFinite(seconds) ? duration(seconds) : 'none');
