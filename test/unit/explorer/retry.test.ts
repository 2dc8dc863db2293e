import { describe, expect, test } from 'vitest';
import { ExplorerError } from '../../../src/explorer/error.ts';
import type { FailureClass } from '../../../src/failure.ts';
import { delayMs, retry } from '../../../src/explorer/client.ts';

const failed = (failure: FailureClass, retryAfterMs: number | null = null): ExplorerError =>
  new ExplorerError({ failure, status: 500, detail: 'x', retryAfterMs });

/** Runs attempts that fail with the given classes, then succeed; the waits are recorded. */
async function run(classes: readonly (FailureClass | Error)[]) {
  const waits: number[] = [];
  let attempts = 0;
  const outcome = await retry(
    async () => {
      const next = classes[attempts];
      attempts += 1;
      if (next instanceof Error) throw next;
      if (next !== undefined) throw failed(next);
      return 'page';
    },
    {
      maxAttempts: 4,
      random: () => 0.5,
      sleep: async (ms) => void waits.push(ms),
      signal: new AbortController().signal,
    },
  ).catch((error: unknown) => error);
  return { outcome, attempts, waits };
}

test('a temporary fault costs one more attempt for each failure', async () => {
  const { outcome, attempts, waits } = await run([
    'unreachable',
    'envelope-invalid',
    'unreachable',
  ]);
  expect(outcome).toBe('page');
  expect(attempts).toBe(4);
  expect(waits).toEqual([125, 250, 500]);
});

test('a lasting fault ends after four attempts with the last failure', async () => {
  const { outcome, attempts } = await run(Array.from({ length: 20 }, () => 'unreachable' as const));
  expect(outcome).toMatchObject({ failure: 'unreachable' });
  expect(attempts).toBe(4);
});

test('throttled requests have eight attempts of their own', async () => {
  const throttled = Array.from({ length: 20 }, () => 'throttled' as const);
  expect((await run(throttled)).attempts).toBe(8);
  const mixed = await run([...throttled.slice(0, 7), 'unreachable', 'unreachable', 'unreachable']);
  expect(mixed).toMatchObject({ outcome: 'page', attempts: 11 });
});

test('a failure that a retry cannot fix is not retried', async () => {
  expect(await run(['rejected'])).toMatchObject({
    outcome: { failure: 'rejected' },
    attempts: 1,
    waits: [],
  });
});

test('an internal error is not retried', async () => {
  const bug = new TypeError('bug');
  expect(await run([bug])).toMatchObject({ outcome: bug, attempts: 1 });
});

describe('the wait', () => {
  test('grows by factors of two up to 8 s, with full jitter', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 20].map((n) => delayMs(null, n, () => 1))).toEqual([
      250, 500, 1000, 2000, 4000, 8000, 8000, 8000,
    ]);
    expect(delayMs(null, 5, () => 0)).toBe(0);
  });

  test('is never shorter than requested, nor longer than a minute', () => {
    expect(delayMs(2000, 1, () => 0)).toBe(2000);
    expect(delayMs(2000, 1, () => 1)).toBe(2250);
    expect(delayMs(600_000, 1, () => 1)).toBe(60_000);
  });
});
