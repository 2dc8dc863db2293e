import { describe, expect, test } from 'vitest';
import { planText } from '../../../src/cli/plan-text.ts';
import type { PlanDocument } from '../../../src/documents/plan.ts';
import { planDocument } from '../../../src/documents/plan.ts';
import { about, atLeast, none, upTo } from '../../../src/lists/estimates.ts';
import type { Estimate } from '../../../src/lists/list.ts';
import { planReport } from '../../../src/report/plan/document.ts';
import type { FeedForecast } from '../../../src/report/plan/plan.ts';
import { looks } from './looks.ts';

const moment = { at: new Date('2026-11-21T00:00:00Z'), spentToday: 120 };
const rate = { requestsPerSecond: 5, dailyCredits: null };

type Operation = FeedForecast['operation'];

function feed(
  chain_id: number,
  operation: Operation,
  history: Estimate,
  upkeep: Estimate,
  more: Partial<FeedForecast> = {},
): FeedForecast {
  const done = { requests: 240, credits: 4_800, latencyMs: 250 };
  const name = `${chain_id}/${operation}`;
  return { chain_id, operation, feed: name, history, upkeep, walks: null, done, ...more };
}

const unread = { done: { requests: 0, credits: 0, latencyMs: null } };
const polls = (count: number, each = 1) =>
  about([
    { what: 'poll', count, requests_each: each },
    { what: 'new-item', count: 12_000, requests_each: null },
  ]);
const gaps = (least: number, most: number) =>
  upTo(least, 'start-unknown', [{ what: 'gap', count: 1, requests_each: most }]);
const batches = (count: number) => about([{ what: 'batch', count, requests_each: 4.5 }]);
const again = upTo(190, 'reread-varies', [
  { what: 'poll', count: 160, requests_each: 1 },
  { what: 'new-batch', count: 8, requests_each: 4.5 },
  { what: 'batch-again', count: 288, requests_each: 1 },
]);

/** Two chains with three feeds each, somewhere in the middle of their history. */
const six = [
  feed(10, 'user-operations', gaps(55, 121_000), polls(288, 1.4)),
  feed(10, 'optimism-batch-blocks', batches(12_000), again, { walks: 4 }),
  feed(10, 'factories', none, polls(4, 6), { walks: 1 }),
  feed(42_220, 'user-operations', gaps(12, 30_400), polls(288, 1.1)),
  feed(42_220, 'optimism-batch-blocks', batches(900), again, { walks: 4 }),
  feed(42_220, 'factories', atLeast(1, 'never-read'), atLeast(4, 'never-read'), unread),
];

const documentOf = (
  forecasts: readonly FeedForecast[],
  limits: Parameters<typeof planReport>[1] = rate,
): PlanDocument =>
  planDocument.parse({
    schema: 'explorer-etl/plan/1',
    exit: { code: 0, reason: 'done' },
    ...planReport(forecasts, limits, moment),
  });

const cases: Record<string, PlanDocument> = {
  'six feeds': documentOf(six),
  'a limit of credits': documentOf(six, { requestsPerSecond: 5, dailyCredits: 20_000 }),
  'nothing read': documentOf(
    six.map(({ chain_id, operation }) =>
      feed(chain_id, operation, atLeast(1, 'never-read'), atLeast(288, 'never-read'), unread),
    ),
  ),
  'nothing left': documentOf(six.slice(0, 3).map((one) => ({ ...one, history: none }))),
  'bound by latency': documentOf([
    feed(
      10,
      'factories',
      about([{ what: 'ranking', count: 1, requests_each: 900 }]),
      polls(4, 900),
      {
        walks: 1,
      },
    ),
  ]),
};

describe.each(Object.entries(cases))('plan of %s', (_name, document) => {
  test.each(Object.entries(looks))('on %s', (_on, look) => {
    expect(planText(document, look)).toMatchSnapshot();
  });

  test.each([60, 80, 140])('has no line longer than %d columns', (columns) => {
    const lines = linesOf(document, columns);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
  });

  test('fits 24 lines of 80 columns', () => {
    expect(linesOf(document, 80).length).toBeLessThanOrEqual(24);
  });
});

const linesOf = (document: PlanDocument, columns: number) =>
  planText(document, { isTerminal: true, columns, isColoured: false }).trimEnd().split('\n');
