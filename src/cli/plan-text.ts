import type { PlanDocument } from '../report/plan/document.ts';
import { duration } from './duration.ts';
import { table, whole } from './table.ts';

/** The plan for people, at most 100 columns wide. */
export function planText(document: PlanDocument): string {
  const { rate, warnings } = document;
  const credits =
    rate.daily_credits === null ? 'no limit of credits' : creditsOf(rate.daily_credits);
  const lines = [
    `At ${rate.requests_per_second} requests a second and ${credits} a day; a request costs ${rate.credits_per_request} credits.`,
    '',
    'History, once:',
    ...historyLines(document),
    '',
    'Upkeep, each day:',
    ...upkeepLines(document),
    '',
    "History under the service's plans:",
    planTable(document),
    ...warnings.map((warning) => `\nWarning: ${warning}.`),
  ];
  return `${lines.join('\n')}\n`;
}

function historyLines({ feeds, history }: PlanDocument): string[] {
  const requests = feeds.reduce((sum, { done }) => sum + done.requests, 0);
  const all = { ...history, is_at_most: feeds.some((feed) => feed.history.is_at_most) };
  const { days, days_beside_upkeep: beside, first_done: first } = history;
  const isLater = days !== null && days > 0;
  return [
    table(
      ['feed', 'requests done', 'left', 'credits', 'ends in'],
      [
        ...feeds.map(({ feed, done, history: own }) => [
          feed,
          whole(done.requests),
          ...sizeOf(own),
          endOf(own),
        ]),
        ['all', whole(requests), ...sizeOf(all), endOf(history)],
      ],
    ),
    ...feeds.map((feed) => `  ${feed.feed}: ${feed.history.basis}`),
    ...(isLater
      ? [`  beside the upkeep: ${beside === null ? 'never' : duration(beside * 86_400)}`]
      : []),
    ...(first === null ? [] : [`  first done: ${first}`]),
    ...unknownLine(history.unknown),
  ];
}

const endOf = ({ requests, seconds }: { requests: number | null; seconds: number | null }) =>
  requests === 0 ? 'done' : duration(seconds);

function upkeepLines({ feeds, upkeep }: PlanDocument): string[] {
  const all = { ...upkeep, is_at_most: feeds.some((feed) => feed.upkeep.is_at_most) };
  const rows = [
    ...feeds.map((feed) => [feed.feed, ...sizeOf(feed.upkeep)]),
    ['all', ...sizeOf(all)],
  ];
  return [
    table(['feed', 'requests', 'credits'], rows),
    ...feeds.map((feed) => `  ${feed.feed}: ${feed.upkeep.basis}`),
  ];
}

function planTable({ plans }: PlanDocument): string {
  return table(
    ['plan', 'ends in', 'than as configured', 'upkeep fits', 'first done'],
    plans.map((plan) => [
      plan.plan,
      duration(plan.seconds),
      plan.saves_days === null ? '' : compared(plan.saves_days),
      plan.upkeep_fits === null ? 'unknown' : plan.upkeep_fits ? 'yes' : 'no',
      plan.first_done ?? '',
    ]),
  );
}

function unknownLine(feeds: readonly string[]): string[] {
  if (feeds.length === 0) return [];
  return [
    `  not in the sum: ${feeds.join(', ')}; plan --probe reads up to 100 pages of each to find out`,
  ];
}

function sizeOf(size: {
  readonly requests: number | null;
  readonly credits: number | null;
  readonly is_at_most: boolean;
}): [string, string] {
  if (size.requests === null || size.credits === null) return ['unknown', ''];
  const most = size.is_at_most && size.requests > 0 ? 'at most ' : '';
  return [`${most}${whole(size.requests)}`, whole(size.credits)];
}

const creditsOf = (credits: number) => `${whole(credits)} credits`;

function compared(savesDays: number): string {
  if (savesDays === 0) return 'the same';
  return `${duration(Math.abs(savesDays) * 86_400)} ${savesDays > 0 ? 'sooner' : 'later'}`;
}
