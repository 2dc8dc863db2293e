import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dayNumber, microseconds } from '../../../src/export/parquet.ts';

describe('a time of Postgres', () => {
  test('is as many microseconds as it says, in any year that the service can tell', () => {
    const bounds = { min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z') };
    fc.assert(
      fc.property(
        fc.date({ ...bounds, noInvalidDate: true }),
        fc.integer({ min: 0, max: 999_999 }),
        (date, micros) => {
          const whole = date.toISOString().slice(0, 19);
          const fraction = String(micros).padStart(6, '0').replace(/0+$/u, '');
          const point = fraction === '' ? '' : '.';
          const expected = BigInt(Date.parse(`${whole}Z`)) * 1000n + BigInt(micros);
          const written = `${whole.replace('T', ' ')}${point}${fraction}`;
          expect(microseconds(`${written}+00`)).toBe(expected);
          expect(microseconds(`${whole}${point}${fraction}Z`)).toBe(expected);
          expect(dayNumber(whole.slice(0, 10))).toBe(
            Math.floor(Date.parse(`${whole.slice(0, 10)}T00:00:00Z`) / 86_400_000),
          );
        },
      ),
    );
    expect(microseconds('10000-01-01 00:00:00+00')).toBe(253_402_300_800_000_000n);
  });

  test.each(['infinity', '-infinity', '0044-03-15 12:00:00+00 BC', '', '2026-01-01 00:00:00+02'])(
    'is none where no clock shows it: %s',
    (text) => {
      expect(microseconds(text)).toBeNull();
    },
  );
});
