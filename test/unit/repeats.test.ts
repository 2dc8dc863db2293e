import { expect, test } from 'vitest';
import { countRepeats } from '../../src/log.ts';

const minuteMs = 60_000;

/** Repeats by a clock that the test moves. */
function world() {
  let nowMs = 5;
  const repeats = countRepeats(() => nowMs);
  return { repeats, pass: (ms: number) => void (nowMs += ms) };
}

test('a failure every ten seconds for a day is logged at growing intervals, with its count', () => {
  const { repeats, pass } = world();
  const logged: [minute: number, times: number][] = [];
  for (let second = 0; second < 24 * 3600; second += 10) {
    const { isLogged, times } = repeats.count('feed 10/factories', 'unreachable');
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

test('each class and each feed is logged separately', () => {
  const { repeats } = world();
  const first = { isLogged: true, times: 1 };
  expect(repeats.count('a', 'unreachable')).toEqual(first);
  expect(repeats.count('a', 'envelope-invalid')).toEqual(first);
  expect(repeats.count('b', 'unreachable')).toEqual(first);
  expect(repeats.count('a', 'unreachable')).toEqual({ isLogged: false, times: 2 });
});

test('a recovery is logged once, with the number of failures', () => {
  const { repeats } = world();
  repeats.count('a', 'x');
  repeats.count('a', 'x');
  repeats.count('a', 'y');
  expect(repeats.end('a')).toEqual({ isLogged: true, times: 3 });
  expect(repeats.end('a').isLogged).toBe(false);
});

test('a recovery is logged once, also if another process saw the failure', () => {
  const { repeats, pass } = world();
  expect(repeats.end('a')).toEqual({ isLogged: true, times: 0 });
  expect(repeats.end('a')).toEqual({ isLogged: false, times: 0 });
  pass(21 * minuteMs);
  expect(repeats.end('a')).toEqual({ isLogged: true, times: 0 });
});

test('a failure that returns after its recovery is logged at once', () => {
  const { repeats } = world();
  repeats.count('a', 'x');
  repeats.end('a');
  expect(repeats.count('a', 'x')).toEqual({ isLogged: true, times: 1 });
});
