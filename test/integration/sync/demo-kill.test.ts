import { expect, test } from 'vitest';
import { command } from '../../harness/process.ts';

test('only a demo may start a worker of the demo', async () => {
  const { code, stderr } = await command(['demo', '--as-worker']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/--as-worker is for the demo itself/u);
});
