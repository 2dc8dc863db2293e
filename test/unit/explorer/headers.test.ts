import { brotliCompressSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decompress,
  type Headers,
  rateHeaders,
  retryAfterMs,
  valuesOf,
} from '../../../src/explorer/response.ts';

const names = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-credits-remaining',
  'retry-after',
  'date',
  'content-encoding',
  'location',
] as const;

const imfDate = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2199-12-31'), noInvalidDate: true })
  .map((date) => date.toUTCString());

/** One value of a header: sensible, odd, or nonsense of any length. */
const value = fc.oneof(
  fc.integer({ min: -1000, max: 1_000_000 }).map(String),
  fc.double({ noNaN: true }).map(String),
  fc.constantFrom(
    '-1',
    '',
    ' ',
    '0',
    '-0',
    '1e9',
    '0x10',
    '00012',
    'NaN',
    'Infinity',
    'gzip',
    'br',
  ),
  imfDate,
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.tuple(fc.constantFrom('9', ',', ' ', 'a'), fc.nat(20_000)).map(([text, n]) => text.repeat(n)),
);

/** A header as text or list. */
const header = fc
  .constantFrom(...names)
  .chain((name) =>
    fc.tuple(
      fc.constant(name),
      fc.oneof(value, fc.array(value, { maxLength: 5 }), fc.constant(undefined)),
    ),
  );
const anyHeaders = fc
  .array(header, { maxLength: 12 })
  .map((entries): Headers => Object.fromEntries(entries));

const dayMs = 86_400_000;
const now = Date.parse('2026-11-27T12:00:00Z');

const read = (headers: Headers) => ({
  ...rateHeaders(headers),
  waitMs: retryAfterMs(429, headers, now),
  codings: valuesOf(headers, 'content-encoding'),
});

test('headers of any form, number and length give numbers within their bounds, or null', () => {
  fc.assert(
    fc.property(anyHeaders, (headers) => {
      const { limit, remaining, resetMs, creditsRemaining, waitMs } = read(headers);
      expect(limit ?? 1).toBeGreaterThanOrEqual(1);
      expect(remaining ?? 0).toBeGreaterThanOrEqual(0);
      expect(resetMs ?? 0).toBeGreaterThanOrEqual(0);
      expect(resetMs ?? 0).toBeLessThanOrEqual(dayMs);
      expect(Number.isSafeInteger(Math.floor(creditsRemaining ?? 0))).toBe(true);
      expect(waitMs ?? 1).toBeGreaterThan(0);
      expect(waitMs ?? 1).toBeLessThanOrEqual(dayMs);
    }),
    { numRuns: 500 },
  );
});

test('a header that proxies repeat or join says what it says once', () => {
  const once = fc.tuple(
    fc.constantFrom(...names),
    fc.oneof(fc.integer({ min: -5, max: 100_000 }).map(String), imfDate, fc.constant('gzip')),
  );
  fc.assert(
    fc.property(once, ([name, text]) => {
      const single = { ...read({ [name]: text }), codings: [] };
      for (const headers of [
        { [name]: [text, text] },
        { [name]: `${text}, ${text}` },
        { [name]: [` ${text},${text} `, text] },
      ]) {
        expect({ ...read(headers), codings: [] }).toEqual(single);
      }
    }),
    { numRuns: 200 },
  );
});

test('of several limits the lowest counts, and of several waits the longest', () => {
  const headers = {
    'x-ratelimit-limit': ['5', '600'],
    'x-ratelimit-remaining': '599, 0',
    'x-ratelimit-reset': ['45000', '700'],
    'x-credits-remaining': ['99000', '-30.5'],
    'retry-after': ['1', '2'],
  };
  expect(read(headers)).toMatchObject({
    limit: 5,
    remaining: 0,
    resetMs: 700,
    creditsRemaining: -30.5,
    waitMs: 2000,
  });
});

test('two dates in one line are two waits', () => {
  const [soon, later] = [5, 9].map((seconds) => new Date(now + seconds * 1000).toUTCString());
  expect(read({ 'retry-after': `${soon}, ${later}` }).waitMs).toBe(9000);
});

test.each(['soon 2030', 'x 9999', '2030', 'May 3000'])('%s is no date to wait for', (text) => {
  const waitMs = retryAfterMs(503, { 'retry-after': text }, now);
  // A number is seconds.
  expect(waitMs).toBe(/^\d+$/u.test(text) ? 2_030_000 : null);
});

describe('a body is unpacked', () => {
  const page = Buffer.from('{"items":[],"next_page_params":null}');
  const unpack = (raw: Buffer, coding: string | readonly string[]) =>
    decompress(raw, { 'content-encoding': coding }, 1000).toString();

  test.each<[string, Buffer, string | readonly string[]]>([
    ['that two proxies call identity', page, ['identity', 'identity']],
    ['of an empty coding', page, ''],
    ['packed once and called so twice', gzipSync(page), ['gzip', 'gzip']],
    ['packed once and called so in one line', brotliCompressSync(page), 'br, br'],
    ['packed in two ways, the last one first', brotliCompressSync(gzipSync(page)), ['gzip', 'BR']],
    ['by the old name', gzipSync(page), 'x-gzip, identity'],
  ])('%s', (_what, raw, coding) => {
    expect(unpack(raw, coding)).toBe(page.toString());
  });

  test.each<[string, Buffer, string]>([
    ['a coding that was not requested', page, 'zstd'],
    ['a body that is not packed as it says', page, 'gzip'],
    [
      'a body that fills memory, packed in two ways',
      brotliCompressSync(gzipSync(Buffer.alloc(1e6))),
      'gzip, br',
    ],
  ])('and %s is an error', (_what, raw, coding) => {
    expect(() => unpack(raw, coding)).toThrow(/encoding|header check|larger/u);
  });
});
