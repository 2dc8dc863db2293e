import { expect, test } from 'vitest';
import { call, configFolder, eventually, findWorker, startProgram } from '../../harness/process.ts';
import { freshDatabase } from '../../harness/database.ts';

/** Whether a process is there. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a demo whose ledger lacks a page says so, and fails', async () => {
  const { url, query } = await freshDatabase();
  const env = { DATABASE_URL: url };
  await call(['migrate'], { env });
  await query(`
    create function public.lose_a_page() returns trigger language plpgsql as $$
    begin
      delete from etl.pages where walk_id = new.id and sequence = 1;
      return null;
    end $$;
    create trigger lose_a_page after update on etl.walks
    for each row when (new.state = 'finished' and new.operation = 'user-operations')
    execute function public.lose_a_page()`);

  const { code, stdout } = await call(['demo'], { env });

  expect(code).toBe(1);
  expect(stdout).toMatch(/✗ Killed at page \d+, resumed at \d+: [1-9]\d* pages? lost/u);
});

test.for(['SIGTERM', 'SIGKILL'] as const)(
  'a demo that is ended by %s leaves no worker running',
  async (signal) => {
    const { url, pool } = await freshDatabase();
    const cwd = await configFolder({ chains: [] });
    const demo = startProgram(['demo'], {
      databaseUrl: url,
      explorerUrl: 'http://127.0.0.1:9',
      cwd,
    });
    const worker = await eventually('a worker', () => findWorker(pool));

    demo.kill(signal);

    expect(await demo.ended()).toMatchObject(signal === 'SIGKILL' ? { signal } : { code: 130 });
    await eventually('its end', async () => !isThere(worker));
  },
);
