import { expect, test } from 'vitest';
import type { StatusDocument } from '../../../src/documents/status.ts';
import { definitions, type Definition } from '../../../src/http/metrics/definitions.ts';
import { awayStatus } from '../../../src/report/status-document.ts';
import { observing } from '../../harness/http.ts';

const away = awayStatus(new Date(), 'gone');
const healthy: StatusDocument = { ...away, verdict: { kind: 'healthy', reasons: [] } };
const broken = () => Promise.reject(new Error('it broke'));
const gone = async () => awayStatus(new Date(), 'connection refused');

test.each([
  { kind: 'database-away', snapshot: gone, up: [0] },
  { kind: 'unknown', snapshot: broken, up: [] },
])(
  'where the verdict is $kind the process still answers, and claims nothing',
  async ({ kind, snapshot, up }) => {
    const { scrape } = observing({ snapshot, queue: broken });
    const told = await scrape();
    expect(told.all('explorer_etl_database_up').map(({ value }) => value)).toEqual(up);
    expect(told.of('explorer_etl_verdict', { kind })).toBe(1);
    expect(told.of('process_cpu_seconds_total')).toBeGreaterThan(0);
    const shared = Object.entries<Definition>(definitions)
      .filter(([name, { aggregate }]) => aggregate === 'max by' && told.all(name).length > 0)
      .map(([name]) => name);
    expect(shared).toEqual(['explorer_etl_verdict', 'explorer_etl_reasons']);
  },
);

test('a scrape waits for no slow reading once it knows something, and tells the news when they came', async () => {
  let nowMs = 0;
  const readings: ((status: StatusDocument) => void)[] = [];
  const { scrape } = observing({
    snapshot: () => new Promise((resolve) => readings.push(resolve)),
    now: () => nowMs,
  });
  const answer = (reading: number, spent: number) =>
    readings[reading]?.({ ...healthy, credits: { ...healthy.credits, spent } });
  const spent = async () => (await scrape()).of('explorer_etl_budget_credits_spent');
  const first = spent();
  answer(0, 20);
  expect(await first).toBe(20);
  // Nobody answers the second: they tell the first, and wait for one reading together.
  expect([await spent(), await spent(), readings.length]).toEqual([20, 20, 2]);
  answer(1, 40);
  expect(await spent()).toBe(40);
  nowMs += 60_001;
  const later = spent();
  answer(2, 80);
  expect(await later).toBe(80);
});

test('the queue is read once for several scrapes, and again some seconds later', async () => {
  let nowMs = 0;
  let reads = 0;
  const lane = { chain_id: 10, operation: 'factories', lane: 'live' } as const;
  const waiting = { lane, is: 'queued', until: null, age_s: 1 } as const;
  const { scrape } = observing({
    snapshot: async () => healthy,
    queue: async () => {
      reads += 1;
      return Array.from({ length: reads }, () => waiting);
    },
    now: () => nowMs,
  });
  const depth = async () => (await scrape()).of('explorer_etl_queue_depth', { state: 'queued' });
  expect([await depth(), await depth()]).toEqual([1, 1]);
  nowMs += 3_001;
  expect(await depth()).toBe(2);
});

test('when the credits end is told while it is before midnight, and not before', async () => {
  const as_of = '2026-03-04T10:00:00.000Z';
  const ends = '2026-03-04T19:40:00.000Z';
  const told = async (credits: StatusDocument['credits']) => {
    const { scrape } = observing({
      snapshot: async () => ({
        ...away,
        as_of,
        verdict: { kind: 'healthy', reasons: [] },
        credits,
      }),
    });
    const answer = await scrape();
    return {
      ends: answer.of('explorer_etl_credits_last_until_seconds'),
      left: answer.of('explorer_etl_budget_credits_remaining'),
      used: answer.of('explorer_etl_budget_used_ratio'),
    };
  };
  const money = { spent: 300, limit: 400, left: 100, keys: [] };
  expect(await told({ ...money, forecast: { kind: 'lasts-until', at: ends } })).toEqual({
    ends: Date.parse(ends) / 1000,
    left: 100,
    used: 0.75,
  });
  expect(await told({ ...money, left: 0, forecast: { kind: 'spent', until: ends } })).toEqual({
    ends: Date.parse(as_of) / 1000,
    left: 0,
    used: 1,
  });
  // Not limited, so not known: no zero that an alert would believe.
  const unknown = { spent: 300, limit: null, left: null, keys: [] };
  expect(await told({ ...unknown, forecast: { kind: 'no-limit' } })).toEqual({});
  expect(await told({ ...money, forecast: { kind: 'enough' } })).toEqual({
    left: 100,
    used: 0.75,
  });
});
