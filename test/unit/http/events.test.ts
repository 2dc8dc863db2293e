import { expect, test } from 'vitest';
import { factsOf } from '../../../src/http/events.ts';
import { emptyStatus } from '../../../src/report/status-document.ts';
import { toldFeed, toldLane, type ToldFeed } from '../../harness/told-status.ts';

const statusOf = (time: string, feed: ToldFeed) => ({
  ...emptyStatus(new Date(time), null),
  feeds: [feed],
});

const before = toldFeed({ lanes: [toldLane()] });
const told = factsOf(statusOf('2026-11-22T11:24:00Z', before));

test('what only time changes is no news', () => {
  const later = toldFeed({
    last_page_age_s: 122,
    lag_s: 303,
    freshness: { ...before.freshness, age_s: 123 },
    lanes: [toldLane({ last_page_age_s: 122, last_success_age_s: 122 })],
  });
  expect(factsOf(statusOf('2026-11-22T11:24:03Z', later))).toBe(told);
});

test.each([
  ['a page', { pages: 241 }],
  ['an item in quarantine', { quarantined: 1 }],
  ['a state', { state: 'late' }],
  ['a walk', { running_walks: 1 }],
] satisfies [string, Partial<ToldFeed>][])('%s is', (_, change) => {
  expect(factsOf(statusOf('2026-11-22T11:24:03Z', { ...before, ...change }))).not.toBe(told);
});
