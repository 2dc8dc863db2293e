import Table from 'cli-table3';
import type { PlanDocument } from '../feeds/plan/document.ts';
import { duration } from './duration.ts';

const plain = { head: [], border: [] };
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

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
    ...planLines(document),
    ...warnings.map((warning) => `\nWarning: ${warning}.`),
  ];
  return `${lines.join('\n')}\n`;
}

function historyLines({ feeds, history }: PlanDocument): string[] {
  const table = new Table({
    head: ['feed', 'requests done', 'left', 'credits', 'ends in'],
    style: plain,
  });
  for (const { feed, done, history: own } of feeds) {
    table.push([feed, whole.format(done.requests), ...sizeOf(own), endOf(own)]);
  }
  const done = feeds.reduce((sum, feed) => sum + feed.done.requests, 0);
  table.push([
    'all',
    whole.format(done),
    ...sizeOf({ ...history, is_at_most: feeds.some((feed) => feed.history.is_at_most) }),
    endOf(history),
  ]);
  const { days, days_beside_upkeep: beside, first_done: first } = history;
  const isLater = days !== null && days > 0;
  return [
    table.toString(),
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
  const table = new Table({ head: ['feed', 'requests', 'credits'], style: plain });
  for (const feed of feeds) table.push([feed.feed, ...sizeOf(feed.upkeep)]);
  const isAtMost = feeds.some((feed) => feed.upkeep.is_at_most);
  table.push(['all', ...sizeOf({ ...upkeep, is_at_most: isAtMost })]);
  return [table.toString(), ...feeds.map((feed) => `  ${feed.feed}: ${feed.upkeep.basis}`)];
}

function planLines({ plans }: PlanDocument): string[] {
  const table = new Table({
    head: ['plan', 'ends in', 'than as configured', 'upkeep fits', 'first done'],
    style: plain,
  });
  for (const plan of plans) {
    table.push([
      plan.plan,
      duration(plan.seconds),
      plan.saves_days === null ? '' : compared(plan.saves_days),
      plan.upkeep_fits === null ? 'unknown' : plan.upkeep_fits ? 'yes' : 'no',
      plan.first_done ?? '',
    ]);
  }
  return [table.toString()];
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
  return [`${most}${whole.format(size.requests)}`, whole.format(size.credits)];
}

const creditsOf = (credits: number) => `${whole.format(credits)} credits`;

function compared(savesDays: number): string {
  if (savesDays === 0) return 'the same';
  return `${duration(Math.abs(savesDays) * 86_400)} ${savesDays > 0 ? 'sooner' : 'later'}`;
}
