import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { deploy } from './rules.ts';

const promtool = (...args: readonly string[]) =>
  spawnSync('promtool', args, { cwd: deploy, encoding: 'utf8' });

test('promtool accepts the rules, and their tests pass', () => {
  expect(promtool('check', 'rules', 'alerts.yaml')).toMatchObject({ status: 0 });
  const tested = promtool('test', 'rules', 'alerts.test.yaml');
  expect(tested.stdout + tested.stderr).toContain('SUCCESS');
  expect(tested.status).toBe(0);
});
