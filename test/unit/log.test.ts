import { expect, onTestFinished, test, vi } from 'vitest';
import { createLog } from '../../src/log.ts';

test('a log line begins with its time in UTC, zone included, and stays one line', () => {
  vi.stubEnv('TZ', 'Asia/Tokyo');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(new Date().getTimezoneOffset()).toBe(-540);
  const lines: string[] = [];

  createLog('info', (line) => lines.push(line)).info({ text: 'a\nb' }, 'page.read');

  expect(lines).toHaveLength(1);
  const [, time, rest] = /^\[(\S+)\] (.*)\n$/.exec(lines[0] ?? '') ?? [];
  expect(time).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  expect(Math.abs(Date.now() - Date.parse(time ?? ''))).toBeLessThan(60_000);
  expect(rest).toBe('INFO: page.read {"text":"a\\nb"}');
});

test('a log line holds nothing that acts on a terminal', () => {
  const lines: string[] = [];

  createLog('info', (line) => lines.push(line)).info(
    { text: 'x\u001b[2J\u009b2J\u202e\u2028\u007f' },
    'page.read',
  );

  expect(lines.join('')).toMatch(
    /INFO: page\.read \{"text":"x\\u001b\[2J\\u009b2J\\u202e\\u2028\\u007f"\}\n$/,
  );
});
