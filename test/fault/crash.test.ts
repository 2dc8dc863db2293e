import { expect, test } from 'vitest';
import type { HeldWalk } from '../../src/lists/tables.ts';
import { prepareUrl } from '../harness/client.ts';
import { simulated } from '../harness/explorer.ts';
import { databaseAt } from '../harness/database.ts';
import { ownServer } from '../harness/initialized.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { beginRun, claim, openContender, walkOn } from '../harness/runner.ts';
import { differences } from '../harness/tables.ts';
import { shortChain } from '../harness/sync.ts';

const seed = 29;
const chain = shortChain;

/** Two workers on a Postgres that flushes what no transaction waits for as late as it can. */
async function openScene() {
  const simulator = await simulated({ seed, chains: [chain] });
  const server = await ownServer({ wal_writer_delay: '10s' });
  await prepareUrl(server.url);
  const database = databaseAt(server.url);
  const { pool } = database;
  const run = { url: simulator.url, chains: [chain], pageSize: 10 };
  const first = await openContender(database, run);
  const second = await openContender(database, run);
  const lane = { chain_id: chain.id, operation: 'user-operations', lane: 'backfill' } as const;
  return { server, pool, first, second, run: await beginRun(first, lane, {}) };
}

test('a page that a crash rolled back is requested again, and a worker that remembers it is fenced', async () => {
  const { server, pool, first, second, run } = await openScene();
  const logged = async () => {
    const { rows } = await pool.query<{ pages: number; revision: number; incarnation: string }>(`
      select (select count(*)::int from etl.pages) as pages, revision::int,
             etl.incarnation() as incarnation
      from etl.walks
    `);
    return rows[0];
  };
  const held = await claim(first, run);
  if (held === null) throw new Error('no walk to claim');
  await walkOn(first, held, 1);
  // As the first worker has its walk in memory when it asks for the second page.
  const { rows } = await pool.query<{ walk: HeldWalk }>(
    'select to_jsonb(walks) as walk from etl.walks',
  );
  const remembered = { ...held, ...rows[0]?.walk };
  expect(await logged()).toEqual({
    pages: 1,
    revision: held.revision + 1,
    incarnation: held.incarnation,
  });

  await server.crash();

  const taken = await claim(second, run);
  if (taken === null) throw new Error('no walk to claim');
  expect(await logged()).toEqual({
    pages: 0,
    revision: remembered.revision,
    incarnation: taken.incarnation,
  });
  expect(taken.incarnation).not.toBe(held.incarnation);
  expect(await walkOn(first, remembered, 1)).toEqual({ is: 'fenced' });
  expect(await walkOn(second, taken, 100)).toEqual({ is: 'ended', end: { is: 'end' } });
  expect(await differences(pool, seed, chain, { operations: ['user-operations'] })).toEqual({});
  expect(await ledgerFaults(pool, 'under-way')).toEqual({});
});

test('the end of a walk survives a crash, with all pages before it', async () => {
  const { server, pool, first, run } = await openScene();
  const held = await claim(first, run);
  if (held === null) throw new Error('no walk to claim');
  expect(await walkOn(first, held, 100)).toEqual({ is: 'ended', end: { is: 'end' } });

  await server.crash();

  const { rows } = await pool.query('select state, pages::int from etl.walks');
  expect(rows).toEqual([{ state: 'finished', pages: 12 }]);
  expect(await differences(pool, seed, chain, { operations: ['user-operations'] })).toEqual({});
});
