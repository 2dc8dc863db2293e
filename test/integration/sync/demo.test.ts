import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, configFolder } from '../../harness/process.ts';

test('demo uses the database that DATABASE_URL_FILE names, relative to the working directory', async () => {
  const cwd = await configFolder({ chains: [] });
  await writeFile(join(cwd, 'url'), 'nonsense\n');

  const { code, stderr } = await call(['demo'], { env: { DATABASE_URL_FILE: 'url' }, cwd });

  expect(code).toBe(2);
  expect(stderr).toMatch(/DATABASE_URL: not a URL/u);
});
