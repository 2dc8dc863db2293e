import { describe, expect, test } from 'vitest';
import { parseDuration, parseMoment } from '../../src/time.ts';

const now = new Date('2026-11-21T14:35:12.345Z');

describe('a moment is', () => {
  test.each([
    ['2026-11-01', '2026-11-01T00:00:00.000Z'],
    ['2026-11-01 08:30', '2026-11-01T08:30:00.000Z'],
    ['2026-11-01T08:30:00+02:00', '2026-11-01T06:30:00.000Z'],
    ['7d', '2026-11-14T00:00:00.000Z'],
    ['7 days', '2026-11-14T00:00:00.000Z'],
    ['2 weeks', '2026-11-07T00:00:00.000Z'],
    ['1w', '2026-11-14T00:00:00.000Z'],
    ['36h', '2026-11-20T02:00:00.000Z'],
    ['90 min', '2026-11-21T13:05:00.000Z'],
    ['30s', '2026-11-21T14:34:42.000Z'],
    ['1.5d', '2026-11-20T00:00:00.000Z'],
    ['99999 weeks', '1970-01-01T00:00:00.000Z'],
  ])('%s: %s', (text, moment) => {
    expect(parseMoment(text, now)).toBe(moment);
  });

  test.each(['yesterday', '', '7', '-7d', '7 fortnights', '2026-02-30', `${'9'.repeat(200)}d`])(
    'not %s',
    (text) => expect(parseMoment(text, now)).toBeNull(),
  );

  test('the start of its unit, never later than the duration ago', () => {
    const later = new Date('2026-11-21T23:59:59Z');
    expect(parseMoment('7d', later)).toBe(parseMoment('7d', now));
    for (const text of ['3d', '5h', '7m', '20s', '2w']) {
      const agoMs = now.getTime() - Date.parse(parseMoment(text, now) ?? '');
      expect(agoMs).toBeGreaterThanOrEqual(parseDuration(text) ?? Infinity);
    }
  });
});
