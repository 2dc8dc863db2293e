import { expect, test } from 'vitest';
import { spans } from '../../../src/page/charts/span.ts';
import { credits } from '../../../src/page/credits.ts';
import { freshness } from '../../../src/page/freshness.ts';
import { shownFeeds, type FreshnessBin } from '../../../src/page/freshness/facts.ts';
import { throughput } from '../../../src/page/throughput.ts';
import type { ThroughputBin } from '../../../src/page/throughput/bins.ts';
import { windowOfDay, windowUpTo } from '../../../src/time-window.ts';
import { toldAt, toldFeed, toldStatus } from '../../harness/told-status.ts';

const at = Date.parse(toldAt);
const query = new URLSearchParams();
const key = {
  spent: 62_400,
  limit: 100_000,
  left: 37_600,
  paused_until: null,
  failure: null,
  reason: null,
};
const hostile = `<script>alert(1)</script>`;

const fresh = (bin: number): FreshnessBin => ({
  bin,
  age_s: 60,
  lag_s: 90,
  objective_s: 600,
  share: 0.1,
});

async function freshnessOf(bins: readonly FreshnessBin[], chain_name = 'optimism') {
  const status = toldStatus([toldFeed({ chain_name })], {});
  const feeds = new Map(bins.length === 0 ? [] : [['10/user-operations', bins]]);
  const past = (span: typeof spans.day) => ({ span, window: windowUpTo(at, span), feeds });
  const facts = { status, query, ...shownFeeds(status, query) };
  return String(await freshness({ ...facts, day: past(spans.day), month: past(spans.month) }));
}

const worked = (bin: number, rows: number, failures = {}): ThroughputBin => ({
  bin,
  minutes: 1,
  lanes: { live: { rows, requests: 1 } },
  failures,
});

const throughputOf = async (bins: readonly ThroughputBin[]) =>
  String(
    await throughput({ at, query, span: spans.hour, window: windowUpTo(at, spans.hour), bins }),
  );

/** How often a line is begun anew. */
const strokes = (markup: string) =>
  markup
    .match(/ d="(?:[^"]*)"/gu)
    ?.join('')
    .match(/M/gu)?.length ?? 0;

test('what nobody noted yet is said, and no line is drawn', async () => {
  expect(await freshnessOf([])).toContain('There is no history yet');
  expect(await throughputOf([])).toContain('Nothing is noted of this time');
  expect(strokes(await throughputOf([]))).toBe(0);
});

test('a line ends where nobody worked, and begins anew after it', async () => {
  const whole = strokes(await freshnessOf([10, 11, 12, 13].map(fresh)));
  const holed = strokes(await freshnessOf([10, 11, 13, 14].map(fresh)));
  expect(holed).toBeGreaterThan(whole);
  expect(await throughputOf([worked(2, 5), worked(9, 5)])).toContain('Hatched: nobody worked.');
});

test('failures are told by their class, above what was done', async () => {
  const markup = await throughputOf([
    worked(50, 5, { throttled: 3 }),
    worked(51, 7, { [hostile]: 1 }),
  ]);
  expect(markup).toContain('throttled');
  expect(markup).not.toContain(hostile);
  expect(markup.indexOf('Failed requests a minute')).toBeLessThan(markup.indexOf('Rows a minute'));
});

test('a chain of markup is text', async () => {
  const markup = await freshnessOf([fresh(95)], hostile);
  expect(markup).not.toContain(hostile);
  expect(markup).toContain('&lt;script&gt;');
});

test.each([
  [{ kind: 'lasts-until', at: '2026-11-22T19:40:00.000Z' }, 'last until 19:40'],
  [{ kind: 'enough' }, 'last until midnight'],
  [
    { kind: 'history-takes-days', days: { least: 3, most: 3 } },
    'history needs about 3 more days of credits',
  ],
  [
    { kind: 'history-takes-days', days: { least: 0, most: 1 } },
    'history needs up to 1 more day of credits',
  ],
  [{ kind: 'spent', until: '2026-11-23T00:00:00.000Z' }, 'spent'],
] as const)('the forecast of credits is said: %o', async (forecast, said) => {
  const status = toldStatus([toldFeed()], {
    credits: { spent: 62_400, limit: 100_000, left: 37_600, forecast, keys: [key] },
  });
  const window = windowOfDay(at, 900);
  const past = {
    window,
    unnoted: 0,
    stretches: [
      [
        { place: 0, spent: 0 },
        { place: 40, spent: 62_400 },
      ],
    ],
  };
  const markup = String(await credits({ status, past }));
  expect(markup.toLowerCase().replaceAll(/\s+/gu, ' ')).toContain(said);
  expect(markup).toContain('37,600');
});
