import { expect, test } from 'vitest';
import { expectToFit, usual } from './looks.ts';
import { planText } from '../../../src/cli/plan.ts';
import { about, atLeast, type Estimate, likelyUpTo, none, upTo } from '../../../src/lists/list.ts';
import {
  type FeedPlan,
  planDocument,
  type PlanDocument,
  planOf,
} from '../../../src/status/plan.ts';

const moment = { at: new Date('2026-11-21T00:00:00Z'), spentToday: 120 };
const rate = { requestsPerSecond: 5, dailyCredits: null };
const all = { since: null, from_batch: null, to_batch: null, named_by: null };

const feed = (
  chain_id: number,
  operation: FeedPlan['operation'],
  history: Estimate,
  upkeep: Estimate,
  target: FeedPlan['target'] = all,
): FeedPlan => ({
  chain_id,
  operation,
  feed: `${chain_id}/${operation}`,
  history,
  upkeep,
  target,
});

const since = { ...all, since: '2026-01-01T00:00:00.000Z', named_by: 'command' } as const;
const batches = { ...all, from_batch: 100, named_by: 'file' } as const;

/** Two chains with three feeds each, somewhere in the middle of their history. */
const six = [
  feed(10, 'user-operations', upTo(55, 121_000), about(404)),
  feed(10, 'optimism-batch-blocks', about(54_000), upTo(190, 484), batches),
  feed(10, 'factories', none, about(24)),
  feed(42_220, 'user-operations', likelyUpTo(26_300, 30_400), about(317), since),
  feed(42_220, 'optimism-batch-blocks', about(4_050), upTo(190, 484)),
  feed(42_220, 'factories', atLeast(1), atLeast(4)),
];

const documentOf = (
  feeds: readonly FeedPlan[],
  limits: Parameters<typeof planOf>[1] = rate,
): PlanDocument => planDocument.parse(planOf(feeds, limits, moment));

const free = { requestsPerSecond: 5, dailyCredits: 20_000 };

test('the plan has the total cost, and the cost and target of each feed', async () => {
  const document = documentOf(six, free);
  await expect(planText(document, usual)).toMatchFileSnapshot('snapshots/plan.txt');
  expectToFit((look) => planText(document, look));
});

test.each([
  ['2026-01-01T00:00:00.000Z', '2026-01-01'],
  ['2026-01-01T10:30:00.000Z', '2026-01-01T10:30:00Z'],
  ['2026-01-01T10:30:00.250Z', '2026-01-01T10:30:00.250Z'],
])('a target since %s is written as %s', (time, written) => {
  const bounded = feed(10, 'user-operations', none, none, { ...since, since: time });
  expect(planText(documentOf([bounded]), usual)).toContain(`since ${written} (command)`);
});

test('a plan first says if its cost is unknown, or nothing is left', () => {
  const unread = six.map((one) => ({ ...one, history: atLeast(1), upkeep: atLeast(288) }));
  const read = six.slice(0, 3).map((one) => ({ ...one, history: none }));

  expect(planText(documentOf(unread), usual)).toMatch(
    /^The cost of the history of 6 feeds is unknown: too little is downloaded\.\n/u,
  );
  expect(planText(documentOf(read), usual)).toMatch(/^No history is left to download\.\n/u);
});
