import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  createLog,
  logEvents,
  type LogFormat,
  type LogLevel,
  type LogStyle,
} from '../../src/log.ts';
import { terminalText } from '../../src/terminal/layout.ts';
import { apiKey, leaks, otherKey, secretKey } from '../e2e/canary.ts';

/** A value for every field; 1234 for the others, which are numbers. */
const sampleOf: Readonly<Record<string, unknown>> = {
  feed: '10/user-operations',
  lane: 'live',
  was: 'unreachable',
  failure: 'unreachable',
  detail: 'what came',
  error: 'what came',
  folder: 'what came',
  path: 'what came',
  problem: 'what came',
  stack: 'what came',
  url: 'what came',
  problems: ['one', 'another'],
  key: 'a-name',
  kind: 'a-name',
  outcome: 'a-name',
  queue: 'a-name',
  variable: 'a-name',
  reason: 'unreachable: HTTP 503, busy. Nothing to do.',
  next_poll: '2026-03-04T05:07:00.890Z',
  added: 117,
  changed: 0,
  quarantined: 0,
  pages: 3,
  seconds: 2,
};

type EventName = keyof typeof logEvents;
const names = Object.keys(logEvents) as EventName[];

function fieldsFor(name: EventName): Record<string, unknown> {
  return Object.fromEntries(
    logEvents[name].fields.map((field) => [field, sampleOf[field] ?? 1234]),
  );
}

/** Log lines in a style, at a time that stands. */
function keptLog(format: LogFormat, options: { isColoured?: boolean; level?: LogLevel } = {}) {
  const { isColoured = false, level = 'debug' } = options;
  vi.useFakeTimers({ now: new Date('2026-03-04T05:06:07.890Z'), toFake: ['Date'] });
  vi.stubEnv('TZ', 'Asia/Tokyo');
  onTestFinished(() => void vi.useRealTimers());
  onTestFinished(() => void vi.unstubAllEnvs());
  const lines: string[] = [];
  const style: LogStyle = { format, isColoured, now: () => 0 };
  const log = createLog(level, (line) => void lines.push(line), style);
  const write = (name: EventName, given: Record<string, unknown>) => log.write(name, given);
  return { lines, log, write };
}

test('every event for people, one line each', () => {
  const { lines, write } = keptLog('pretty');
  for (const name of names) write(name, fieldsFor(name));
  expect(lines).toHaveLength(names.length);
  expect(lines.join('')).toMatchSnapshot();
});

test('every event for programs, one JSON object each', () => {
  const { lines, write } = keptLog('json');
  for (const name of names) write(name, fieldsFor(name));
  expect(lines).toHaveLength(names.length);
  for (const [index, name] of names.entries()) {
    expect(JSON.parse(lines[index] ?? '')).toMatchObject({
      level: logEvents[name].level,
      time: '2026-03-04T05:06:07.890Z',
      event: name,
      ...fieldsFor(name),
    });
  }
});

test('colours change nothing but colours', () => {
  const [plain, coloured] = [keptLog('pretty'), keptLog('pretty', { isColoured: true })];
  for (const { write } of [plain, coloured]) write('feed.failure', fieldsFor('feed.failure'));
  expect(terminalText(coloured.lines.join(''))).toContain('\u001b[33mWARN');
  expect(stripVTControlCharacters(coloured.lines.join(''))).toBe(plain.lines.join(''));
});

const hostile = 'x\u001b[2J\u009b2J\u202e\u2028\u007f\ny';

test.each(['pretty', 'json'] as const)('%s has no control characters', (format) => {
  const { lines, log } = keptLog(format);
  log.write('database.locked', { reason: hostile });
  expect(lines).toHaveLength(1);
  const meant = format === 'json' ? (JSON.parse(lines[0] ?? '') as object) : { reason: hostile };
  expect(meant).toMatchObject({ reason: hostile });
  expect(lines[0]).toMatch(/x\\u001b\[2J\\u009b2J\\u202e\\u2028\\u007f(\\n|\\u000a)y.*\n$/u);
});

test.each(['pretty', 'json'] as const)('%s holds no known secret, in any encoding', (format) => {
  const { lines, log } = keptLog(format);
  log.conceal([apiKey, secretKey]);
  log.conceal([otherKey, 'pass word/1']);
  for (const secret of [apiKey, otherKey, secretKey, 'pass word/1']) {
    const reason = [secret, encodeURIComponent(secret), JSON.stringify(secret)].join(' and ');
    log.write('start.failed', { problems: [reason, `a${reason}`] });
    log.write('queue.failure', { error: reason });
    log.write('feed.failed', {
      feed: '10/factories',
      lane: 'live',
      failure: null,
      reason,
    });
  }
  const said = lines.join('');
  expect(leaks(said)).toEqual([]);
  expect(said).not.toMatch(/pass|word/u);
  expect(said).toContain('***');
});

test.each([
  'postgres://reader:hunter2@db.example:5432/etl refused',
  'postgresql://reader:hu/nt@er2@db.example/etl refused',
  "host=db.example password='hunter2 x' user=reader",
  'connect db.example?user=reader&password=hunter2&sslmode=require',
  'GET https://explorer.example/10/api?apikey=hunter2&page=2',
])('a password or key that is not configured is masked too: %s', (error) => {
  for (const format of ['pretty', 'json'] as const) {
    const { lines, log } = keptLog(format);
    log.write('queue.failure', { error });
    expect(lines.join('')).toContain('***');
    expect(lines.join('')).not.toMatch(/hu\/?nt/u);
    expect(lines.join('')).toMatch(/example/u);
  }
});

test('a repeated event is logged once, counted, and logged again at its end', () => {
  const { lines, write } = keptLog('json', { level: 'info' });
  for (let count = 0; count < 5; count += 1) write('feed.failure', fieldsFor('feed.failure'));
  write('feed.recovered', fieldsFor('feed.recovered'));
  write('feed.failure', { ...fieldsFor('feed.failure'), feed: '8453/factories' });

  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(logged.map(({ event, feed, times }) => ({ event, feed, times }))).toEqual([
    { event: 'feed.failure', feed: '10/user-operations', times: 1 },
    { event: 'feed.recovered', feed: '10/user-operations', times: 5 },
    { event: 'feed.failure', feed: '8453/factories', times: 1 },
  ]);
});

test('a key that is an ordinary word changes no field that programs read', () => {
  const { lines, log } = keptLog('json');
  log.conceal(['key']);
  const fields = { feed: '10/factories', lane: 'live', state: 'failed', failure: 'key-missing' };
  log.write('feed.failed', { ...fields, reason: 'the key, of a monkey' });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ ...fields, reason: 'the ***, of a monkey' });
});

test('at debug, each repetition is logged with its count', () => {
  const { lines, write } = keptLog('pretty');
  for (let count = 0; count < 3; count += 1) write('feed.failure', fieldsFor('feed.failure'));
  expect(lines.map((line) => /^\S+ (\w+)/u.exec(line)?.[1])).toEqual(['WARN', 'DEBUG', 'DEBUG']);
  expect(lines[2]).toMatch(/\(3 times\)\n$/u);
});

test('events below the level are left out', () => {
  for (const [level, least] of [
    ['info', 'info.warn.error'],
    ['warn', 'warn.error'],
    ['error', 'error'],
    ['silent', ''],
  ] as const) {
    const { lines, write } = keptLog('json', { level });
    for (const name of names) write(name, fieldsFor(name));
    const logged = lines.map((line) => (JSON.parse(line) as { event: EventName }).event);
    expect(logged).toEqual(
      names.filter((name) => least.split('.').includes(logEvents[name].level)),
    );
  }
});
