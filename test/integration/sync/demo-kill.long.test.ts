import type { Pool } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { documents } from '../../../src/cli/documents.ts';
import { demoChains, demoStart } from '../../../simulator/demo.ts';
import { ledgerFaults } from '../../harness/ledger.ts';
import { differencesFrom } from '../../harness/tables.ts';
import { truth } from '../../truth/truth.ts';
import { call, configFolder, eventually, findWorker, startProgram } from '../../harness/process.ts';
import { freshDatabase } from '../../harness/database.ts';

const document = documents.demo;

/** As in the demo. */
const seed = 1;
const copiedBatches = 10;
const dayMs = 86_400_000;

test('the demo kills its worker halfway, and the copy is still complete', async () => {
  const { url, pool } = await freshDatabase();
  await call(['migrate'], { env: { DATABASE_URL: url } });
  await watchWriters(pool);
  const nowMs = Date.now();
  vi.setSystemTime(nowMs);
  onTestFinished(() => void vi.useRealTimers());

  const ended = await call(['demo', '--json'], { env: { DATABASE_URL: url } });
  const { exit, kill, feeds } = document.parse(JSON.parse(ended.stdout));
  if (kill === null) throw new Error('no kill');

  expect(exit).toEqual({ code: 0, reason: 'done' });
  expect(kill).toMatchObject({ feed: '10/user-operations', pages_lost: 0 });
  expect(kill.killed_at_page).toBeGreaterThan(0);
  expect(kill.resumed_at_page).toBe(Number(kill.killed_at_page) + 1);
  expect(() => process.kill(kill.pid, 0)).toThrow('ESRCH');
  const { feed, pid, killed_at_page: last, resumed_at_page: next } = kill;
  expect(await handovers(pool, feed, pid)).toContainEqual({ last, next });
  expect(feeds.filter((one) => one.verified.share !== 1)).toEqual([]);
  expect(await ledgerFaults(pool, 'ended')).toEqual({});
  for (const chain of demoChains(demoStart(nowMs), nowMs)) {
    const to = chain.batches.first + chain.batches.count - 1;
    const batches = { from: to - copiedBatches + 1, to };
    const wanted = truth(seed, chain, { batches, rankedAtMs: [-dayMs] });
    expect(await differencesFrom(pool, chain, wanted)).toEqual({});
  }
  const growth = await pool.query<{ days: number; isGrowing: boolean }>(
    `select count(distinct day)::int as days, sum(new_accounts) > 1000 as "isGrowing" from explorer.factory_daily`,
  );
  expect(growth.rows).toEqual([{ days: 2, isGrowing: true }]);
});

/** Has Postgres note who writes each page, by the name that its session gives itself. */
async function watchWriters(pool: Pool): Promise<void> {
  await pool.query(`
    create table public.writers (walk_id bigint, page bigint, name text);
    create function public.note_writer() returns trigger language plpgsql as $$
    begin
      insert into public.writers values (new.walk_id, new.sequence + 1, current_setting('application_name'));
      return null;
    end $$;
    create trigger note_writer after insert on etl.pages
    for each row execute function public.note_writer()`);
}

/** The last page of each walk that the worker wrote, and the first one that another wrote. */
async function handovers(pool: Pool, feed: string | null, pid: number) {
  const { rows } = await pool.query<{ last: number; next: number }>(
    `select max(page) filter (where name = $2)::int as last, min(page) filter (where name <> $2)::int as next
     from public.writers
     join etl.walks on walks.id = walk_id
     where feed = $1
     group by walk_id
     having bool_or(name = $2) and bool_or(name <> $2)`,
    [feed, `explorer-etl demo worker ${pid}`],
  );
  return rows;
}

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

test('a demo that a signal stops prints a document with --json', async () => {
  const { url, pool } = await freshDatabase();
  const stop = new AbortController();
  const ended = call(['demo', '--json'], { env: { DATABASE_URL: url }, signal: stop.signal });
  await eventually('a worker', () => findWorker(pool));

  stop.abort(new Error('SIGTERM'));
  const { code, stdout } = await ended;

  expect(code).toBe(130);
  expect(document.parse(JSON.parse(stdout))).toMatchObject({
    exit: { code: 130, reason: 'interrupted' },
    kill: null,
  });
});
