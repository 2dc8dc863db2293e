import type { StatusDocument } from '../documents/status.ts';
import { counted, duration, whole } from '../terminal/numbers.ts';
import { clock } from './status-words.ts';

type Forecast = StatusDocument['credits']['forecast'];
type VerdictKind = StatusDocument['verdict']['kind'];

/** How grave it is: a style of the terminal, a class of the page. */
type Tone = 'good' | 'warning' | 'bad';

/** How a verdict is called and coloured. */
export const verdicts: Readonly<Record<VerdictKind, readonly [name: string, style: Tone]>> = {
  'database-away': ['database away', 'bad'],
  unknown: ['unknown', 'bad'],
  'needs-you': ['needs you', 'bad'],
  stopped: ['stopped', 'bad'],
  paused: ['paused', 'warning'],
  waiting: ['waiting', 'warning'],
  degraded: ['degraded', 'warning'],
  behind: ['behind', 'warning'],
  'never-read': ['never read', 'warning'],
  'reading-history': ['reading history', 'good'],
  healthy: ['healthy', 'good'],
};

/** Who works, what today costs, when it goes on: each in some words. */
export function summaryOf(document: StatusDocument): string[] {
  const { workers, credits, standby, next_poll_at, as_of } = document;
  return [
    working(workers),
    ...(standby === null ? [] : [behind(standby.behind_s)]),
    ...spending(credits, as_of),
    ...(next_poll_at === null ? [] : [`next poll ${clock(next_poll_at, as_of)}`]),
  ];
}

function working(workers: StatusDocument['workers']): string {
  if (workers === null) return 'workers not seen from here';
  const { start, once } = workers;
  if (start + once === 0) return 'no worker';
  return [
    ...(start === 0 ? [] : [counted(start, 'worker')]),
    ...(once === 0 ? [] : [counted(once, 'sync')]),
  ].join(', ');
}

const behind = (seconds: number | null) =>
  seconds === null
    ? 'a standby, nobody knows how far behind'
    : `a standby, ${seconds === 0 ? 'not' : duration(seconds)} behind`;

/** So many more days, such as of credits. */
export function moreDays({
  least,
  most,
}: Extract<Forecast, { kind: 'history-takes-days' }>['days']): string {
  const about = least === most ? 'about' : 'up to';
  return `${about} ${whole(most)} more ${most === 1 ? 'day' : 'days'}`;
}

function spending({ spent, limit, forecast, keys }: StatusDocument['credits'], now: string) {
  if (keys.length === 0) return [];
  const sum =
    limit === null ? `${whole(spent)} credits today` : `${whole(spent)} of ${whole(limit)} credits`;
  switch (forecast.kind) {
    case 'no-limit':
      return [sum];
    case 'enough':
      return [`${sum}, enough for today`];
    case 'history-takes-days':
      return [`${sum}, history needs ${moreDays(forecast.days)} of credits`];
    case 'lasts-until':
      return [`${sum}, lasts until ${clock(forecast.at, now)}`];
    case 'spent':
      return [`${sum}, none left until ${clock(forecast.until, now)}`];
    case 'unknown':
      return [sum];
  }
}
