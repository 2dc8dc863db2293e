import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command, configFolder, emptyFolder, eventually } from '../harness/process.ts';
import { freshDatabase } from '../harness/database.ts';
import { testKey } from '../harness/explorer.ts';

/** Makes the program's own modules load as on a busy machine, and says when they begin to. */
const slowLoading = `
  import { writeSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, nextLoad) {
      if (/\\/program[^/]*$/.test(url)) {
        writeSync(2, 'loading\\n');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
      }
      return nextLoad(url, context);
    },
  });`;

test('a SIGTERM while the program loads ends start cleanly', async () => {
  const { url } = await freshDatabase();
  const hook = join(await emptyFolder(), 'slow.mjs');
  await writeFile(hook, slowLoading);
  const { code, stderr } = await command(['start'], {
    cwd: await configFolder({ chains: [{ id: 10 }] }),
    env: {
      NODE_OPTIONS: `--import=${hook}`,
      DATABASE_URL: url,
      EXPLORER_API_KEY: testKey,
      EXPLORER_BASE_URL: 'http://127.0.0.1:9',
    },
    until: (output) => eventually('loading', async () => output().includes('loading')),
  });

  expect(code).toBe(0);
  expect(stderr).not.toMatch(/ERROR|Error/);
});
