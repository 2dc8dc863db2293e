import { describe, expect, test } from 'vitest';
import { ticksOf, timesOf } from '../../../src/page/coverage/axis.ts';
import type { CoverageFacts, FeedFacts, RibbonFacts } from '../../../src/page/coverage/facts.ts';
import { coverage } from '../../../src/page/coverage/panel.ts';
import { moves } from '../../../src/page/coverage/zoom.ts';

const hourMs = 3_600_000;
const day = Date.UTC(2026, 10, 21);

const points = Array.from({ length: 24 }, (_, hour) => ({
  height: 1_000 + hour * 100,
  at: day + hour * hourMs,
}));

const witnesses = {
  walks: 3,
  isMore: false,
  first: 7,
  last: 40,
  lanes: ['backfill', 'live'],
  oldest: '2026-11-21T10:00:00.000Z',
  newest: '2026-11-22T11:00:00.000Z',
};

const ribbon = (changes: Partial<RibbonFacts> = {}): RibbonFacts => ({
  whole: { from: 1_000, to: 3_399 },
  window: { from: 1_000, to: 3_399 },
  segments: [{ state: 'proved', from: 1_000, to: 3_399, count: 2_400, ranges: 1, witnesses }],
  amounts: [{ state: 'proved', count: 2_400, ranges: 1 }],
  gaps: [],
  below: null,
  points,
  ...changes,
});

const feed = (changes: Partial<FeedFacts> = {}): FeedFacts => ({
  feed: '10/user-operations',
  chain: 'optimism',
  list: 'user operations',
  unit: 'blocks',
  share: '100 % proved',
  isWorked: true,
  ribbon: ribbon(),
  census: null,
  ...changes,
});

const shown = async (changes: Partial<CoverageFacts>): Promise<string> =>
  String(
    await coverage({
      query: new URLSearchParams(),
      asOf: '2026-11-22T11:24:00.000Z',
      span: null,
      chosen: null,
      feeds: [feed()],
      ...changes,
    }),
  );

const troubled = ribbon({
  segments: [
    { state: 'unknown', from: 1_000, to: 1_399, count: 400, ranges: 1, witnesses: null },
    { state: 'gap', from: 1_400, to: 1_409, count: 2, ranges: 1, witnesses: null },
    { state: 'flight', from: 1_410, to: 1_999, count: 590, ranges: 1, witnesses },
    { state: 'proved', from: 2_000, to: 3_399, count: 1_400, ranges: 1, witnesses },
  ],
  amounts: [
    { state: 'unknown', count: 400, ranges: 1 },
    { state: 'gap', count: 2, ranges: 1 },
    { state: 'flight', count: 590, ranges: 1 },
    { state: 'proved', count: 1_408, ranges: 2 },
  ],
  gaps: [
    {
      from: 1_402,
      to: 1_403,
      command: 'explorer-etl backfill --chain 10 --from-block 1402 --to-block 1403',
      cost: 'about 1 page, 20 credits',
    },
  ],
  below: { command: 'explorer-etl backfill --chain 10', cost: null },
});

describe('the panel', () => {
  test.each<[string, Partial<CoverageFacts>]>([
    ['whole', {}],
    ['in trouble, looked at closely', { feeds: [feed({ ribbon: troubled })], chosen: feed().feed }],
    [
      'a census',
      { feeds: [feed({ ribbon: null, census: { asOf: '2026-11-22T10:00:00Z', count: 12 } })] },
    ],
    ['never read', { feeds: [feed({ ribbon: null, share: 'share unknown' })] }],
    ['nothing asked for', { feeds: [] }],
  ])('%s', async (_, facts) => {
    const text = await shown(facts);
    expect(text.replace(/<svg class="coverage-patterns".*?<\/svg>/su, '')).toMatchSnapshot();
  });

  test('names of others are text and nothing else', async () => {
    const chain = '<script>alert(1)</script> "onload=x';
    const text = await shown({ feeds: [feed({ chain, list: "<img src=x onerror='y'>" })] });
    expect(text).not.toMatch(/<script|<img|"onload/u);
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &quot;onload=x');
  });

  test('a walk that nobody is on is told as left', async () => {
    const of = (isWorked: boolean) => shown({ feeds: [feed({ isWorked, ribbon: troubled })] });
    expect(await of(true)).toContain('a walk is reading it');
    expect(await of(false)).toContain('begun, and nobody is reading on now');
  });

  test('a part of a stretch that is missing is told as a part', async () => {
    expect(await shown({ feeds: [feed({ ribbon: troubled })] })).toContain(
      'gap: 2 blocks of 10, wanted, and missing or not proved',
    );
  });

  test('links keep what other panels were asked', async () => {
    const query = new URLSearchParams({ 'why-key': '0xab' });
    const links = [...(await shown({ query })).matchAll(/href="(?<href>[^"]*)"/gu)];
    expect(links.length).toBeGreaterThan(4);
    expect(links.filter((found) => !found.groups?.['href']?.includes('why-key=0xab'))).toEqual([]);
  });
});

describe('the axis', () => {
  test('has round times, where items tell them', () => {
    const ticks = ticksOf(ribbon());
    expect(ticks.map(({ label }) => label)).toEqual([
      '03:00',
      '06:00',
      '09:00',
      '12:00',
      '15:00',
      '18:00',
      '21:00',
    ]);
    expect(ticks[0]?.place).toBeCloseTo(12.5);
  });

  test('has none above and below what is known', () => {
    const known = points.slice(6, 12);
    const places = ticksOf(ribbon({ points: known })).map(({ place }) => place);
    expect(places.length).toBeGreaterThan(0);
    expect(Math.min(...places)).toBeGreaterThanOrEqual(25);
    expect(Math.max(...places)).toBeLessThanOrEqual(46);
    expect(ticksOf(ribbon({ points: points.slice(0, 1) }))).toEqual([]);
    expect(timesOf({ from: 1_000, to: 1_700 }, known)).toEqual({
      from: null,
      to: day + 7 * hourMs,
    });
  });

  test('crowds no labels where little is known', () => {
    const places = ticksOf(ribbon({ window: { from: 0, to: 99_999 } })).map(({ place }) => place);
    expect(places.length).toBeLessThan(2);
  });
});

describe('moving', () => {
  const whole = { from: 0, to: 999 };

  test('stays within the list, at its size', () => {
    expect(moves({ from: 0, to: 99 }, whole)).toEqual({
      older: null,
      newer: { from: 50, to: 149 },
      in: { from: 34, to: 66 },
      out: { from: 0, to: 299 },
    });
    expect(moves({ from: 900, to: 999 }, whole).newer).toBeNull();
  });

  test('ends at one height and at all of them', () => {
    expect(moves({ from: 5, to: 5 }, whole).in).toBeNull();
    expect(moves(whole, whole)).toEqual({
      older: null,
      newer: null,
      out: null,
      in: { from: 334, to: 666 },
    });
  });
});
