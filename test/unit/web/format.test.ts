import { expect, test } from 'vitest';
import { cell, counted, duration, moment, percent } from '../../../src/web/format.ts';

test.each([
  [0.4, '0 s'],
  [59, '59 s'],
  [90, '1 min'],
  [5_400, '1.5 h'],
  [86_399, '23 h'],
  [864_000, '10 d'],
])('%s seconds are %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});

// A copy that is called complete and is not.
test('only a complete share is 100 %', () => {
  expect([0.9999, 1, 0.12345].map(percent)).toEqual(['99.9 %', '100 %', '12.3 %']);
});

// A big integer that loses digits; a hash that gains commas.
test.each([
  [
    '115792089237316195423570985008687907853',
    '115,792,089,237,316,195,423,570,985,008,687,907,853',
  ],
  ['-1234.5678', '-1,234.5678'],
  [1_234_567, '1,234,567'],
  ['0x1234', '0x1234'],
  ['2026-11-24T12:00:00Z', '2026-11-24 12:00:00'],
  [null, ''],
])('a value %s is written %s', (value, text) => {
  expect(cell(value)).toBe(text);
});

test('a noun agrees with its number, and a time of another day has its date', () => {
  expect([counted(1, 'gap'), counted(2_000, 'gap')]).toEqual(['1 gap', '2,000 gaps']);
  expect(moment('2026-11-24T09:00:00Z', '2026-11-24T12:00:00Z')).toBe('09:00 UTC');
  expect(moment('2025-11-24T09:00:00Z', '2026-11-24T12:00:00Z')).toBe('24 Nov 2025, 09:00 UTC');
});
