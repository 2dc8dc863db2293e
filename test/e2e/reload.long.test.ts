import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SimulatedChain } from '../../simulator/index.ts';
import { simulated } from '../harness/explorer.ts';
import { freshDatabase } from '../harness/database.ts';
import { configFolder, eventually, startProgram } from '../harness/process.ts';
import { plainChain } from '../harness/sync.ts';
import { yearly } from '../harness/world.ts';

const chainOf = (id: number): SimulatedChain => ({
  ...plainChain,
  id,
  name: `chain-${id}`,
  userOperations: 5_000_000,
  factories: 100,
});

const small = { id: 10, operations: { factories: { schedule: yearly } } };
/** Added when nothing of another chain may be asked any more: by its first request that would show. */
const later = { id: 30, operations: { factories: { schedule: yearly } } };
const large = { id: 20, operations: { 'user-operations': { schedule: yearly, parallel: 1 } } };

/** A running `start` whose configuration the test rewrites. */
async function scene(chains: readonly object[]) {
  const seen = new Map<number, number>();
  const simulator = await simulated({
    seed: 4,
    chains: [chainOf(10), chainOf(20), chainOf(30)],
    latencyMs: 50,
    onRequest: ({ chainId }) => void seen.set(chainId, (seen.get(chainId) ?? 0) + 1),
  });
  const { pool, url } = await freshDatabase();
  const contentOf = (list: readonly object[], explorer: object = {}) =>
    JSON.stringify({ explorer: { requests_per_second: 1000, ...explorer }, chains: list });
  const cwd = await configFolder({});
  const write = (text: string) => writeFile(join(cwd, 'explorer-etl.yaml'), text);
  await write(contentOf(chains));
  const start = () =>
    startProgram(['start'], { databaseUrl: url, explorerUrl: simulator.url, cwd });
  const program = start();
  const requestsOf = (id: number) => seen.get(id) ?? 0;
  return {
    pool,
    program,
    start,
    requestsOf,
    configure: (list: readonly object[]) => write(contentOf(list)),
    /** Rewrites the file and has it read; `text` where it is to be no configuration. */
    reload: async (list: readonly object[] | string, explorer: object = {}) => {
      await write(typeof list === 'string' ? list : contentOf(list, explorer));
      program.kill('SIGHUP');
    },
    untilRead: (id: number) =>
      eventually(`requests for chain ${id}`, async () => requestsOf(id) > 0),
    /** Until no worker has a job of the chain in hand, so that no request is under way. */
    untilLeft: (id: number) =>
      eventually(`the last job of chain ${id}`, async () => {
        const { rowCount } = await pool.query(
          `select from pgboss.job where state in ('created', 'retry', 'active') and data ->> 'chain_id' = $1`,
          [String(id)],
        );
        return rowCount === 0;
      }),
    hasWritten: (event: RegExp) => eventually(`${event}`, async () => event.test(program.stderr)),
  };
}

test('a feed that is added with SIGHUP is copied; one that is removed costs no more', async () => {
  const { pool, program, requestsOf, reload, untilRead, untilLeft, hasWritten } = await scene([
    small,
  ]);
  await untilRead(10);
  expect(requestsOf(20)).toBe(0);

  await reload([small, large]);
  await untilRead(20);

  await reload([small]);
  await hasWritten(/config\.reloaded[^]*config\.reloaded/);
  await untilLeft(20);
  const atRest = requestsOf(20);
  await reload([small, later]);
  await untilRead(30);
  expect(requestsOf(20)).toBe(atRest);
  const { rows } = await pool.query(`
    select walks.state, feeds.state as feed,
           (select count(*) > 0 from explorer.user_operations where chain_id = 20) as is_kept
    from etl.walks
    join etl.feeds using (chain_id, operation)
    where chain_id = 20`);
  expect(rows).toEqual([{ state: 'abandoned', feed: 'idle', is_kept: true }]);
  const { rows: schedules } = await pool.query('select key from pgboss.schedule order by 1');
  expect(schedules).toEqual([{ key: '10.factories.backfill' }, { key: '30.factories.backfill' }]);
  expect(program.isRunning).toBe(true);
});

test('a wrong file is told with its problems, and the one before it stays in force', async () => {
  const { program, requestsOf, reload, untilRead, hasWritten } = await scene([large]);
  await untilRead(20);

  await reload('chains:\n  - id: abc\n    operatoins: {}\n');

  await hasWritten(/explorer-etl\.yaml:2.*explorer-etl\.yaml:3.*config\.refused/);
  const before = requestsOf(20);
  await eventually('the feed to go on', async () => requestsOf(20) > before + 3);
  await reload([large, small]);
  await untilRead(10);
  expect(program.isRunning).toBe(true);
});

test('the archive and the page size of the file hold for the walk that is under way', async () => {
  const { pool, program, reload, untilRead } = await scene([large]);
  const count = async (of: string) => {
    const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from ${of}`);
    return rows[0]?.n ?? 0;
  };
  await untilRead(20);
  await eventually('a page', async () => (await count('etl.pages')) > 0);
  expect(await count('etl.raw_pages')).toBe(0);

  await reload([large], { archive: 'all', page_size: 7 });

  await eventually('archived pages', async () => (await count('etl.raw_pages')) > 0);
  const archived = 'etl.raw_pages join etl.pages on pages.id = page_id';
  expect(await count(`${archived} where items <> 7`)).toBe(0);
  expect(await count('etl.walks')).toBe(1);
  await pool.query(`update etl.raw_pages set stored_at = now() - interval '3 days'`);

  await reload([large], { archive: 'off', archive_days: 2, page_size: 7 });

  await eventually('the archive to be emptied', async () => {
    return (await count(`${archived} where stored_at < now() - interval '2 days'`)) === 0;
  });
  const newer = 'etl.pages where id > (select max(page_id) from etl.raw_pages)';
  await eventually('pages that are not archived', async () => (await count(newer)) > 10);
  const left = await count('etl.raw_pages');
  await eventually('further pages', async () => (await count(newer)) > 20);
  expect(await count('etl.raw_pages')).toBe(left);
  expect(program.stderr).not.toMatch(/config\.refused|failure/);
});

test('a feed that is gone from the configuration at a restart costs no more', async () => {
  const { pool, program, start, requestsOf, configure, untilRead } = await scene([small, large]);
  await untilRead(20);
  program.kill('SIGKILL');
  await program.ended();
  const before = requestsOf(20);
  const runOf20 = `select state from etl.runs where chain_id = 20`;
  expect((await pool.query(runOf20)).rows).toEqual([{ state: 'open' }]);

  await configure([small, later]);
  const again = start();

  await eventually('the feed to be set aside', async () => {
    const { rows } = await pool.query<{ state: string }>(runOf20);
    return rows[0]?.state === 'superseded';
  });
  await untilRead(30);
  expect(requestsOf(20)).toBe(before);
  expect(again.isRunning).toBe(true);
});
