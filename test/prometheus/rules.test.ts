import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyFolder } from '../harness/process.ts';
import { alteredRules, deploy } from './rules.ts';

const promtool = (...args: readonly string[]) =>
  spawnSync('promtool', args, { cwd: deploy, encoding: 'utf8' });

test('promtool accepts the rules, and their tests pass', () => {
  expect(promtool('check', 'rules', 'alerts.yaml')).toMatchObject({ status: 0 });
  const tested = promtool('test', 'rules', 'alerts.test.yaml');
  expect(tested.stdout + tested.stderr).toContain('SUCCESS');
  expect(tested.status).toBe(0);
});

test('promtool accepts the shortened rules of the other tests', async () => {
  const altered = join(await emptyFolder(), 'alerts.yaml');
  await writeFile(altered, await alteredRules());
  expect(promtool('check', 'rules', altered)).toMatchObject({ status: 0 });
});
