import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { publishChanges } from '../../../src/db/changes.ts';
import { roles } from '../../../src/db/roles.ts';
import { transact, type Transaction } from '../../../src/db/transaction.ts';
import { operationNames } from '../../../src/lists/registry.ts';
import { freshDatabase, grantedDatabase, userWith } from '../../harness/database.ts';
import { eventually } from '../../harness/process.ts';
import { openCopy, shortChain } from '../../harness/sync.ts';
import { hashOf, loadIn } from '../load/loader.ts';

const movingChain = {
  ...shortChain,
  otherRankings: 20,
  motion: {
    operationsPerMinute: 10,
    latePercent: 6,
    latestLateMs: 1_200_000,
    orphanedPercent: 10,
    reincludedPercent: 50,
  },
};

const bring = (tx: Transaction, n: number) =>
  loadIn(tx, 'user-operations', [{ page_id: n, items: [{ hash: hashOf(n) }] }]);

/** A transaction that has written operation `n` and goes on until its answer is called. */
async function begun(pool: Pool, n: number) {
  const written = Promise.withResolvers<number>();
  const gate = Promise.withResolvers<void>();
  const ended = transact(drizzle(pool), async (tx) => {
    await bring(tx, n);
    const { rows } = await tx.execute<{ pid: number }>('select pg_backend_pid() as pid');
    written.resolve(rows[0]?.pid ?? 0);
    await gate.promise;
  });
  // A test that fails before leaves it behind.
  ended.catch(() => undefined);
  onTestFinished(() => gate.resolve());
  const pid = await written.promise;
  return { pid, ended, commit: () => (gate.resolve(), ended) };
}

/** A database with readers: one that remembers the newest time, and one that reads up to the bound. */
async function scene(database = freshDatabase()) {
  const { pool, query } = await database;
  const db = drizzle(pool);
  const last = { newest: '-infinity', bound: '-infinity' };
  const hashes = (rows: readonly Record<string, unknown>[]) => rows.map(({ n }) => n);
  return {
    pool,
    query,
    publish: () => publishChanges(db, 'in silence'),
    write: (n: number) => transact(db, (tx) => bring(tx, n)),
    newest: async () => {
      const rows = await query(
        `select right(hash, 1)::int as n, updated_at::text as at
         from explorer.user_operations where updated_at > '${last.newest}' order by updated_at`,
      );
      last.newest = rows.at(-1)?.['at'] ?? last.newest;
      return hashes(rows);
    },
    bounded: async () => {
      const [{ until }] = (await query('select explorer.changes_until()::text as until')) as [
        { until: string },
      ];
      const rows = await query(
        `select right(hash, 1)::int as n from explorer.user_operations
         where updated_at >= '${last.bound}' and updated_at < '${until}' order by updated_at`,
      );
      last.bound = until;
      return hashes(rows);
    },
  };
}

test('of transactions that commit in another order, the newest time loses one and the bound none', async () => {
  const { pool, write, publish, newest, bounded } = await scene();
  const first = await begun(pool, 1);
  await write(2);
  await publish();
  expect([await newest(), await bounded()]).toEqual([[2], []]);
  await first.commit();
  await publish();
  expect([await newest(), await bounded()]).toEqual([[], [1, 2]]);
});

test('a transaction that is killed holds the bound back no longer', async () => {
  const { pool, query, write, publish, bounded } = await scene();
  const first = await begun(pool, 1);
  await write(2);
  await publish();
  expect(await bounded()).toEqual([]);
  await query(`select pg_terminate_backend(${first.pid})`);
  void first.commit().catch(() => undefined);
  await eventually('the change beside it', async () => {
    await publish();
    return (await bounded()).includes(2);
  });
});

test('a snapshot has the bound of its time, so that one statement may read both', async () => {
  const { pool, publish, query } = await scene();
  const first = await begun(pool, 1);
  const reader = await pool.connect();
  onTestFinished(() => reader.release(true));
  const read = async () =>
    (
      await reader.query<{ until: string; rows: number }>(
        `select explorer.changes_until()::text as until, count(*)::int as rows
         from explorer.user_operations`,
      )
    ).rows[0];
  await publish();
  await reader.query('begin isolation level repeatable read');
  const before = await read();
  await first.commit();
  await publish();
  expect(await read()).toEqual(before);
  await reader.query('commit');
  expect(await read()).toMatchObject({ rows: 1 });
  const moved = await query(`select explorer.changes_until() > '${before?.until}' as moved`);
  expect(moved).toEqual([{ moved: true }]);
});

test('a part that was rolled back does not free the time of what is written after it', async () => {
  const { pool, write, publish, bounded } = await scene();
  const gate = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  const ended = transact(drizzle(pool), async (tx) => {
    await tx.execute('savepoint part');
    await bring(tx, 1);
    await tx.execute('rollback to savepoint part');
    await bring(tx, 3);
    written.resolve();
    await gate.promise;
  });
  onTestFinished(() => gate.resolve());
  await written.promise;
  await write(2);
  await publish();
  expect(await bounded()).toEqual([]);
  gate.resolve();
  await ended;
  await publish();
  expect(await bounded()).toEqual([3, 2]);
});

test('a clock that is behind what readers have read gives later times, each another', async () => {
  const { query, write, bounded, publish } = await scene();
  await query(`insert into etl.change_bound (until) values (now() + interval '1 hour')`);
  expect(await bounded()).toEqual([]);
  await write(1);
  await write(2);
  await publish();
  const times = await query(
    `select count(distinct updated_at)::int as times, bool_and(updated_at >= explorer.changes_until()) as later
     from explorer.user_operations`,
  );
  expect(times).toEqual([{ times: 2, later: true }]);
  await query(`update etl.change_bound set until = now() + interval '2 hours'`);
  expect(new Set(await bounded())).toEqual(new Set([1, 2]));
});

test('the bound sees transactions of other roles, and analysts may read it', async () => {
  const database = await grantedDatabase();
  const [worker, other, analyst] = [
    await userWith(database, roles.worker),
    await userWith(database, roles.worker),
    await userWith(database, roles.analyst),
  ];
  const first = await begun(worker.pool, 1);
  await publishChanges(drizzle(other.pool), 'in silence');
  const isBelow = `
    select explorer.changes_until() <= max(updated_at) as below, count(*)::int as rows
    from explorer.user_operations`;
  expect(await analyst.query(isBelow)).toEqual([{ below: null, rows: 0 }]);
  await first.commit();
  expect(await analyst.query(isBelow)).toEqual([{ below: true, rows: 1 }]);
  await publishChanges(drizzle(other.pool), 'in silence');
  expect(await analyst.query(isBelow)).toEqual([{ below: false, rows: 1 }]);
});

test('a sync announces the bound that has its changes', async () => {
  const { pool, query, sync } = await openCopy(shortChain);
  const listener = await pool.connect();
  onTestFinished(() => listener.release(true));
  const heard: (string | undefined)[] = [];
  listener.on('notification', ({ payload }) => heard.push(payload));
  await listener.query('listen explorer_changes');
  await sync();
  expect((await query('select from explorer.user_operations')).length).toBeGreaterThan(0);
  await eventually('a notification of all', async () => {
    const [row] = await query(
      `select bool_and(updated_at < '${heard.at(-1) ?? '-infinity'}') as has_all from explorer.user_operations`,
    );
    return row?.has_all === true;
  });
});

/** Refuses rows of another time than that of their transaction's change. */
const guard = `
  create function public.guard() returns trigger language plpgsql as $$
  begin
    if new.updated_at is distinct from current_setting('explorer_etl.change_time')::timestamptz then
      raise 'a row of % has another time', tg_table_name;
    end if;
    return null;
  end
  $$;
  do $$
  declare
    name regclass;
  begin
    for name in
      select attrelid from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace = 'explorer'::regnamespace and relkind = 'r' and attname = 'updated_at'
    loop
      execute format('alter table %s alter updated_at drop default, alter first_seen_at drop default', name);
      execute format('create trigger guard after insert or update on %s for each row execute function public.guard()', name);
    end loop;
  end
  $$`;

test('every row that syncs of a moving world write has the time of its transaction', async () => {
  const { pool, syncAt } = await openCopy(movingChain, {
    run: { operations: operationNames },
  });
  await pool.query(guard);
  onTestFinished(async () => void (await pool.query('drop function public.guard cascade')));
  for (let poll = 0; poll < 3; poll += 1) await syncAt(poll * 600_000);
  const { rows } = await pool.query<Record<string, number>>(`
    select (select count(*)::int from explorer.user_operations where removed_at is not null) as removed,
           (select count(*)::int from explorer.factory_history) as history,
           (select count(*)::int from explorer.read_batches where is_verified) as verified`);
  expect(Object.values(rows[0] ?? {}).every((count) => count > 0)).toBe(true);
});
