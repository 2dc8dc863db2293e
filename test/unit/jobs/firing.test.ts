import { expect, test } from 'vitest';
import { nextFiring } from '../../../src/sync/feeds.ts';

const hourMs = 3_600_000;

/** The firings of a schedule from a time on, each found from the one before. */
function firings(cron: string, timezone: string, from: string, count: number): string[] {
  const found: string[] = [];
  let at = new Date(from);
  while (found.length < count) {
    at = nextFiring({ cron, timezone }, at);
    found.push(at.toISOString());
  }
  return found;
}

test.each([
  ['Europe/Berlin', '2026-03-28T12:10:00Z'],
  ['Europe/Berlin', '2026-10-24T12:10:00Z'],
  ['America/New_York', '2026-03-07T12:10:00Z'],
  ['America/New_York', '2026-10-31T12:10:00Z'],
])(
  'an hourly schedule in %s is due once in each hour around %s, where clocks change',
  (timezone, from) => {
    const times = firings('0 * * * *', timezone, from, 48).map((time) => Date.parse(time));

    const steps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(new Set(steps)).toEqual(new Set([hourMs]));
  },
);

test('a schedule is read in its time zone', () => {
  expect(firings('0,5 6 * * *', 'Europe/Berlin', '2026-11-21T04:57:30Z', 3)).toEqual([
    '2026-11-21T05:00:00.000Z',
    '2026-11-21T05:05:00.000Z',
    '2026-11-22T05:00:00.000Z',
  ]);
});
