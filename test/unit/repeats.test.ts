import { expect, test } from 'vitest';
import { countRepeats } from '../../src/log.ts';

const minuteMs = 60_000;

/** Repeats by a clock that the test moves. */
function world() {
  let nowMs = 5;
  const repeats = countRepeats(() => nowMs);
  return { repeats, pass: (ms: number) => void (nowMs += ms) };
}

test('what fails each ten seconds for a day is told at growing intervals, with its count', () => {
  const { repeats, pass } = world();
  const logged: [minute: number, times: number][] = [];
  for (let second = 0; second < 24 * 3600; second += 10) {
    const { isLogged, times } = repeats.count('feed 10/factories', 'HTTP 503');
    if (isLogged) logged.push([Math.round(second / 60), times]);
    pass(10_000);
  }
  expect(logged.slice(0, 8)).toEqual([
    [0, 1],
    [1, 7],
    [3, 19],
    [7, 43],
    [15, 91],
    [31, 187],
    [63, 379],
    [123, 739],
  ]);
  expect(logged.length).toBeLessThan(32);
});

test('two reasons are told each, and two feeds with the same reason too', () => {
  const { repeats } = world();
  const first = { isLogged: true, times: 1 };
  expect(repeats.count('a', 'HTTP 503')).toEqual(first);
  expect(repeats.count('a', 'the body is not JSON')).toEqual(first);
  expect(repeats.count('b', 'HTTP 503')).toEqual(first);
  expect(repeats.count('a', 'HTTP 503')).toEqual({ isLogged: false, times: 2 });
});

test('times and other numbers in a reason do not make it another one', () => {
  const { repeats } = world();
  repeats.count('a', 'no request before 2026-01-02 10:00:05');
  expect(repeats.count('a', 'no request before 2026-01-02 10:05:11').times).toBe(2);
});

test('after 20 minutes without it, it is told as for the first time', () => {
  const { repeats, pass } = world();
  for (let round = 0; round < 30; round += 1) {
    repeats.count('a', 'x');
    pass(minuteMs);
  }
  pass(20 * minuteMs);
  expect(repeats.count('a', 'x')).toEqual({ isLogged: true, times: 1 });
});

test('that it is over is told once, with how often it failed', () => {
  const { repeats } = world();
  repeats.count('a', 'x');
  repeats.count('a', 'x');
  repeats.count('a', 'y');
  expect(repeats.end('a')).toEqual({ isLogged: true, times: 3 });
  expect(repeats.end('a').isLogged).toBe(false);
});

test('that another process saw it fail keeps nobody from telling that it is over, once', () => {
  const { repeats, pass } = world();
  expect(repeats.end('a')).toEqual({ isLogged: true, times: 0 });
  expect(repeats.end('a')).toEqual({ isLogged: false, times: 0 });
  pass(21 * minuteMs);
  expect(repeats.end('a')).toEqual({ isLogged: true, times: 0 });
});

test('a feed that fails and recovers each minute is logged now and then, and a lasting failure again', () => {
  const { repeats, pass } = world();
  const logged: string[] = [];
  for (let minute = 0; minute < 100; minute += 1) {
    if (repeats.count('a', 'cursor loop').isLogged) logged.push('failed');
    if (repeats.end('a').isLogged) logged.push('recovered');
    pass(minuteMs);
  }
  expect(logged.length).toBeLessThan(20);
  expect(logged).toEqual(logged.map((_, index) => (index % 2 === 0 ? 'failed' : 'recovered')));
  expect(logged.at(-1)).toBe('recovered');

  const seconds: number[] = [];
  for (let second = 0; second <= 100; second += 10) {
    if (repeats.count('a', 'cursor loop').isLogged) seconds.push(second);
    pass(10_000);
  }
  expect(seconds).toEqual([60]);
  expect(repeats.end('a').isLogged).toBe(true);
});

test('of too many reasons those of another class are told all the same', () => {
  const { repeats } = world();
  for (let count = 1; count <= 25; count += 1) repeats.count('a', 'x'.repeat(count), 'x');
  expect(repeats.count('a', 'another x', 'x').isLogged).toBe(false);
  expect(repeats.count('a', 'the key was refused', 'key')).toEqual({ isLogged: true, times: 1 });
  expect(repeats.count('a', 'the key is missing', 'key')).toEqual({ isLogged: false, times: 2 });
});

test('a service that invents reasons without end is told twenty times, and counted from then on', () => {
  const { repeats } = world();
  const letters = (count: number) => 'x'.repeat(count + 1);
  const logged = Array.from(
    { length: 5_000 },
    (_, index) => repeats.count('a', letters(index)).isLogged,
  ).filter(Boolean);
  expect(logged).toHaveLength(21);
});

test('of very many feeds the one that failed longest ago is forgotten', () => {
  const { repeats } = world();
  const name = (index: number) => `feed ${index}`;
  for (let index = 0; index < 1_001; index += 1) repeats.count(name(index), 'x');
  expect(repeats.count(name(1_000), 'x').times).toBe(2);
  expect(repeats.count(name(1), 'x').times).toBe(2);
  expect(repeats.count(name(0), 'x').times).toBe(1);
});
