import type { StatusDocument } from '../../documents/status.ts';
import { whole } from '../../terminal/numbers.ts';
import { placeIn } from '../../time-window.ts';
import { chart, rectangle, unitsPerBin, type Stretch } from '../charts/chart.ts';
import { figure, holePattern, numbersTable, type Key } from '../charts/figure.ts';
import { linePath, type Point } from '../charts/marks.ts';
import { levelScale } from '../charts/scale.ts';
import { anchorOf, endOf, minuteText, share, stretchText, timeAxis } from '../charts/time.ts';
import { html, type Html } from '../html.ts';
import { restsOf, spentHours, type CreditsPast } from './past.ts';

const height = 150;
const pattern = 'credits-hole';
const hourSeconds = 3600;

/**
 * What is left of a day's credits, down to midnight UTC; what is spent, where no limit is known.
 *
 * @param end within which history ends; null: not known, or read
 */
export function burnDownChart(
  { as_of, credits }: StatusDocument,
  past: CreditsPast,
  end: Stretch | null,
): Html {
  const { window, stretches } = past;
  const { spent, left } = credits;
  const at = Date.parse(as_of);
  const { toY, levels } = levelScale(left === null ? spent : spent + left, height);
  const valueOf = (then: number) => (left === null ? then : left + spent - then);
  const points = stretches.flatMap((stretch): Point[] => [
    ...stretch.map((point): Point => [unitsPerBin * point.place, toY(valueOf(point.spent))]),
    null,
  ]);
  const ahead = forecastOf(credits.forecast, at);
  const rests = restsOf(past, at);
  const hours = spentHours(past).map((hour) => ({
    ...hour,
    when: stretchText(hour.from, hourSeconds),
    value: whole(valueOf(hour.sum)),
  }));
  const what = left === null ? 'Spent' : 'Left';
  const drawn = chart({
    window,
    height,
    label: `${what} of today's credits, hour by hour: ${whole(valueOf(spent))} now${ahead === null ? '' : `, none from ${minuteText(ahead)}`}`,
    marks: [
      linePath(points, 'left'),
      ahead === null || left === null
        ? html``
        : linePath(
            [at, ahead].map((time, index): Point => [
              unitsPerBin * placeIn(window, time),
              toY(index === 0 ? left : 0),
            ]),
            'ahead',
          ),
    ],
    levels,
    holes: { stretches: rests, pattern },
    above: [
      end === null ? html`` : rectangle(window, end, { name: 'band' }),
      upright(placeIn(window, at) / window.bins, 'now'),
      ahead === null ? html`` : endLabel(placeIn(window, ahead) / window.bins, minuteText(ahead)),
    ],
    spots: hours.map(({ from, to, when, spent: some, value }) => ({
      from,
      to,
      text: `${when} UTC: ${whole(some)} spent, ${value} ${what.toLowerCase()} at its end`,
    })),
  });
  const isEndShown = end !== null && end.from < endOf(window);
  const caption = `${what} today`;
  return html`${holePattern(pattern)}
  ${figure(caption, keysOf({ isAhead: ahead !== null, isEndShown }), html`${drawn}${timeAxis(window)}`)}
  ${notes(past, { spent, isResting: rests.length > 0 })}
  ${numbersTable(
    'The numbers of today',
    ['UTC', 'spent', what.toLowerCase()],
    hours.map(({ when, spent: some, value }) => [when, whole(some), value]),
  )}`;
}

/** When they end, in ms; null: not before midnight, or it is not known. */
function forecastOf(forecast: StatusDocument['credits']['forecast'], at: number): number | null {
  if (forecast.kind === 'lasts-until') return Date.parse(forecast.at);
  return forecast.kind === 'spent' ? at : null;
}

const keysOf = ({ isAhead, isEndShown }: { isAhead: boolean; isEndShown: boolean }): Key[] => [
  { name: 'left', label: 'noted' },
  ...(isAhead ? [{ name: 'ahead', label: 'forecast (dashed)' }] : []),
  ...(isEndShown ? [{ name: 'band', label: 'history ends' }] : []),
];

const upright = (part: number, name: string): Html =>
  html`<line class="${name}" x1="${share(part)}" x2="${share(part)}" y2="100%"></line>`;

const endLabel = (part: number, words: string): Html =>
  html`<text class="end" x="${share(part)}" y="${height - 18}" text-anchor="${anchorOf(part)}"
    >${words}</text
  >`;

/** Less than so much of what was spent is not worth a word where it is noted nowhere. */
const leastUnnoted = 0.02;

function notes(
  { unnoted, stretches }: CreditsPast,
  { spent, isResting }: { readonly spent: number; readonly isResting: boolean },
): Html {
  const said = [
    ...(stretches.length === 0
      ? ['Nothing is noted of today: whoever works notes it once a minute.']
      : []),
    ...(stretches.length > 0 && unnoted > leastUnnoted * spent
      ? [
          `${whole(unnoted)} of what was spent is noted nowhere: it was spent before the line begins.`,
        ]
      : []),
    ...(isResting ? ['Hatched: nobody worked.'] : []),
  ];
  return said.length === 0 ? html`` : html`<p class="quiet">${said.join(' ')}</p>`;
}
