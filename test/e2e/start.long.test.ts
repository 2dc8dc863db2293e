import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import type { SimulatedChain } from '../../simulator/index.ts';
import { installQueues } from '../../src/sync/queue.ts';
import { simulated } from '../harness/explorer.ts';
import { freshDatabase } from '../harness/database.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { configFolder, eventually, startProgram } from '../harness/process.ts';
import { plainChain } from '../harness/sync.ts';
import { yearly } from '../harness/world.ts';

/** Every page takes this long, in ms, so that no feed ends before its test does. */
const latencyMs = 300;
const chainOf = (id: number): SimulatedChain => ({
  ...plainChain,
  id,
  name: `chain-${id}`,
  userOperations: 30_000,
  batches: { first: 1, count: 3_000, blocks: 60 },
  factories: 30_000,
});

const configOf = (chains: readonly SimulatedChain[]) => ({
  explorer: { requests_per_second: 1000, page_size: 10 },
  chains: chains.map(({ id, name }) => ({
    id,
    name,
    operations: {
      'user-operations': { schedule: yearly, parallel: 1 },
      'optimism-batch-blocks': { schedule: yearly, to_batch: 3_000, parallel: 2 },
      factories: { schedule: yearly },
    },
  })),
});

/** A prepared database, on which workers that know some of the chains are started by name. */
async function openScene(chains: readonly SimulatedChain[]) {
  const simulator = await simulated({ seed: 3, chains, latencyMs });
  const { pool, url } = await freshDatabase();
  await installQueues({ url, pool });
  const startWorker = async (name: string, some: readonly SimulatedChain[]) => {
    const databaseUrl = new URL(url);
    databaseUrl.searchParams.set('application_name', name);
    const cwd = await configFolder(configOf(some));
    const environment = { databaseUrl: databaseUrl.href, explorerUrl: simulator.url, cwd };
    const program = startProgram(['start'], environment);
    await eventually('it to be ready', async () => program.isReady);
    return program;
  };
  return { pool, startWorker };
}

/** The feeds that a worker works on. The first one was seen before the second. */
async function feedsOf(pool: Pool, worker: string): Promise<string[]> {
  const { rows } = await pool.query<{ feed: string }>(
    `select distinct feed
     from etl.lanes
     join (
       select id, row_number() over (order by started_at) as place from etl.workers
     ) as process on process.id = worker
     where place = $1
     order by feed`,
    [worker === 'first' ? 1 : 2],
  );
  return rows.map(({ feed }) => feed);
}

/** The newest page of each feed in the ledger. */
async function newestPages(pool: Pool): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ feed: string; page: string }>(
    'select walks.feed, max(pages.id) as page from etl.pages join etl.walks on walks.id = walk_id group by walks.feed',
  );
  return new Map(rows.map(({ feed, page }) => [feed, Number(page)]));
}

/** Waits until each of the feeds has committed a newer page than it has now. */
async function untilMoved(pool: Pool, feeds: readonly string[]): Promise<void> {
  const before = await newestPages(pool);
  await eventually(`new pages of ${feeds.join(', ')}`, async () => {
    const pages = await newestPages(pool);
    return feeds.every((feed) => (pages.get(feed) ?? 0) > (before.get(feed) ?? 0));
  });
}

/** Waits until nothing of a dead worker can still be committed. */
const untilGone = (pool: Pool, worker: string) =>
  eventually(`the sessions of ${worker} to end`, async () => {
    const { rows } = await pool.query(
      'select from pg_stat_activity where application_name = $1 and datname = current_database()',
      [worker],
    );
    return rows.length === 0;
  });

test('two workers share the feeds, and each can be stopped while the other continues', async () => {
  // Five chains have 15 feeds, more than the 8 that one worker takes at once.
  const chains = [1, 2, 3, 4, 5].map(chainOf);
  const { pool, startWorker } = await openScene(chains);
  const first = await startWorker('first', chains);
  const second = await startWorker('second', chains);
  const shared = await eventually('both to work', async () => {
    const [ofFirst, ofSecond] = [await feedsOf(pool, 'first'), await feedsOf(pool, 'second')];
    const pages = await newestPages(pool);
    const haveMoved = [...ofFirst, ...ofSecond].every((feed) => pages.has(feed));
    return ofFirst.length + ofSecond.length === 15 && haveMoved && { ofFirst, ofSecond };
  });
  expect(Math.min(shared.ofFirst.length, shared.ofSecond.length)).toBeGreaterThan(0);

  first.kill('SIGTERM');
  expect(await first.ended(), first.stderr).toEqual({ code: 0, signal: null });
  expect(await ledgerFaults(pool, 'under-way')).toEqual({});
  await untilMoved(pool, shared.ofSecond);

  second.kill('SIGTERM');
  expect(await second.ended(), second.stderr).toEqual({ code: 0, signal: null });
  expect(await ledgerFaults(pool, 'under-way')).toEqual({});
});

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'the other worker continues the feeds of a worker that %s ends',
  async (signal) => {
    const { pool, first, held } = await openShared();
    first.kill(signal);
    await first.ended();
    await untilGone(pool, 'first');
    await untilMoved(pool, held);
    expect(await ledgerFaults(pool, 'under-way')).toEqual({});
  },
);

/** Two workers, each with feeds that it works on; `held` are those of the first. */
async function openShared() {
  const chains = [1, 2].map(chainOf);
  const { pool, startWorker } = await openScene(chains);
  const first = await startWorker('first', chains.slice(0, 1));
  await untilHeld(pool, 'first', 3);
  // The first has slots to spare and would take the second chain's feeds too, if it could.
  first.kill('SIGSTOP');
  await startWorker('second', chains);
  await untilHeld(pool, 'second', 3);
  first.kill('SIGCONT');
  // All six move again, each in whichever worker has its slice by now.
  await untilMoved(pool, [...(await newestPages(pool)).keys()]);
  const held = await eventually('both to work', async () => {
    const [ofFirst, ofSecond] = [await feedsOf(pool, 'first'), await feedsOf(pool, 'second')];
    return ofFirst.length > 0 && ofSecond.length > 0 && ofFirst;
  });
  return { pool, first, held };
}

const untilHeld = (pool: Pool, worker: string, count: number) =>
  eventually(`${worker} to work on ${count} feeds`, async () => {
    const feeds = await feedsOf(pool, worker);
    const pages = await newestPages(pool);
    return feeds.length >= count && feeds.every((feed) => pages.has(feed));
  });
