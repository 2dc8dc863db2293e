import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command, configFolder, emptyFolder, eventually } from '../harness/process.ts';
import { freshDatabase } from '../harness/database.ts';
import { logLines } from './log-lines.ts';
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

/** `start`, whose program loads slowly; what to do once it loads. */
async function slowStart(until: (output: () => string, pid: number) => Promise<unknown>) {
  const { url } = await freshDatabase();
  const hook = join(await emptyFolder(), 'slow.mjs');
  await writeFile(hook, slowLoading);
  return command(['start'], {
    cwd: await configFolder({ chains: [{ id: 10 }] }),
    env: {
      NODE_OPTIONS: `--import=${hook}`,
      DATABASE_URL: url,
      EXPLORER_API_KEY: testKey,
      EXPLORER_BASE_URL: 'http://127.0.0.1:9',
    },
    until: async (output, pid) => {
      await eventually('loading', async () => output().includes('loading'));
      await until(output, pid);
    },
  });
}

test('a SIGTERM while the program is loaded lets start end as at any other time', async () => {
  const { code, stderr } = await slowStart(async () => undefined);

  expect(code).toBe(0);
  expect(stderr).not.toMatch(/ERROR|Error/);
});

test('a SIGHUP while the program is loaded lets start read its configuration again once it works', async () => {
  const { code, stderr } = await slowStart(async (output, pid) => {
    process.kill(pid, 'SIGHUP');
    await eventually('reload', async () => output().includes('config.reloaded'));
  });

  expect(code).toBe(0);
  expect(logLines(stderr.replace('loading\n', '')).map(({ event }) => event)).toContain(
    'config.reloaded',
  );
});
