import { expect, test } from 'vitest';
import { waitUntil } from '../../../src/cli/demo-world.ts';

const { signal } = new AbortController();

test('looks again until it is so', async () => {
  let looks = 0;
  await waitUntil('it', async () => (looks += 1) === 3, { mostMs: 60_000, signal });
  expect(looks).toBe(3);
});

test('says what it waited for when it takes too long', async () => {
  await expect(
    waitUntil('the sessions to end', async () => false, { mostMs: 50, signal }),
  ).rejects.toThrow('waited 0.05 seconds for the sessions to end');
});

test('waits no longer once it is told to stop', async () => {
  const stop = new AbortController();
  let looks = 0;
  const isSo = async () => {
    looks += 1;
    stop.abort();
    return false;
  };
  await waitUntil('it', isSo, { mostMs: 60_000, signal: stop.signal });
  expect(looks).toBe(1);
});
