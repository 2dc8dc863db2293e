import type { StatusDocument } from '../documents/status.ts';
import { printable } from '../printable.ts';
import { compact, counted, whole } from '../terminal/numbers.ts';
import { moreDays } from '../words/status-summary.ts';
import { clock } from '../words/status-words.ts';
import type { Stretch } from './charts/chart.ts';
import { burnDownChart } from './credits/burn-down.ts';
import { historyEnd, type HistoryEnd } from './credits/history-end.ts';
import type { CreditsPast } from './credits/past.ts';
import { html, type Html } from './html.ts';

export interface CreditsFacts {
  readonly status: StatusDocument;
  readonly past: CreditsPast;
}

type Credits = StatusDocument['credits'];

/** Today's credits: what is left, how long it lasts, and whether history ends before. */
export function credits({ status, past }: CreditsFacts): Html {
  const { as_of, credits: told } = status;
  const end = historyEnd(status);
  if (told.keys.length === 0) return html`<p>No request was sent yet, so no credit was spent.</p>`;
  return html`<p>${amounts(told)} ${forecastText(told.forecast, as_of)}</p>
    <p class="quiet">${historyText(end, as_of)}</p>
    ${burnDownChart(status, past, stretchOf(end))} ${keys(told, as_of)}`;
}

const stretchOf = (end: HistoryEnd): Stretch | null =>
  end.kind === 'known' ? { from: Date.parse(end.earliest), to: Date.parse(end.latest) } : null;

function amounts({ spent, limit, left }: Credits): Html {
  if (left === null) return html`<b class="amount">${whole(spent)}</b> spent today.`;
  const of = limit === null ? '' : ` of ${whole(limit)}`;
  return html`<b class="amount">${whole(left)}</b>${of} left today, ${whole(spent)} spent.`;
}

function forecastText(forecast: Credits['forecast'], now: string): Html {
  switch (forecast.kind) {
    case 'no-limit':
      return html`No limit is known.`;
    case 'enough':
      return html`<span class="good">They last until midnight UTC.</span>`;
    case 'history-takes-days':
      return html`They are enough for today's polls; history needs ${moreDays(forecast.days)} of
      credits.`;
    case 'lasts-until':
      return html`<span class="warning"
        >Polls need more: they last until ${clock(forecast.at, now)}.</span
      >`;
    case 'spent':
      return html`<span class="bad">None can be spent until ${clock(forecast.until, now)}.</span>`;
    case 'unknown':
      return html`Too early to forecast how long they last.`;
  }
}

function historyText(end: HistoryEnd, now: string): string {
  switch (end.kind) {
    case 'read':
      return 'All history that was asked for is read.';
    case 'unknown':
      return 'When history ends is not known: nothing of it is read now, or its length is not known.';
    case 'known': {
      const [earliest, latest] = [clock(end.earliest, now), clock(end.latest, now)];
      const when = earliest === latest ? `about ${latest}` : `between ${earliest} and ${latest}`;
      return `At the present pace history ends ${when}${end.isAfterCredits ? ', were there credits until then' : ''}.`;
    }
  }
}

/** So many keys are told one by one. */
const keysShown = 12;

/** Several keys, which have no names: in the order of their fingerprints. */
function keys({ keys: all }: Credits, now: string): Html {
  const told = all.filter((key) => all.length > 1 || key.paused_until !== null);
  if (told.length === 0) return html``;
  return html`<ul class="keys">
    ${told
      .slice(0, keysShown)
      .map(
        (key, index) =>
          html`<li>
            Key ${index + 1}:
            ${whole(key.spent)}${key.limit === null ? '' : ` of ${compact(key.limit)}`}
            spent${key.left === null ? '' : `, ${whole(key.left)} left`}${pause(key, now)}
          </li>`,
      )}
    ${told.length > keysShown ? html`<li>and ${counted(told.length - keysShown, 'more key')}</li>` : ''}
  </ul>`;
}

function pause({ paused_until, failure, reason }: Credits['keys'][number], now: string): Html {
  if (paused_until === null) return html``;
  const why = reason ?? failure;
  return html`;
    <span class="warning">paused until ${clock(paused_until, now)}</span
    >${why === null ? '' : `: ${printable(why)}`}`;
}
