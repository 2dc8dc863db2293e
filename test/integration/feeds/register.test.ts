import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { selectChains } from '../../../src/config/select.ts';
import type { ChainSettings } from '../../../src/config/settings.ts';
import { configuredFeeds, registerFeeds } from '../../../src/sync/feeds.ts';
import { changeText } from '../../../src/sync/changes.ts';
import { openRun } from '../../../src/sync/runs.ts';
import { transact } from '../../../src/db/transaction.ts';
import { freshDatabase, untilLocked } from '../../harness/database.ts';

const listed = (settings: Record<string, unknown>) => [
  { chain_id: 10, chain_name: 'optimism', operation: 'user-operations' as const, settings },
];

const source = { origin: 'http://127.0.0.1', isSameData: false };

test.each([
  ["do not replace a feed's settings from a file", { since: '2026-01-01' }],
  ['register a feed that no file names', null],
])('flags %s', async (_, ofFile) => {
  const { query, db } = await freshDatabase();
  await registerFeeds(db, ofFile === null ? [] : listed(ofFile), 'file', source);
  await registerFeeds(db, listed({ since: null }), 'flags', source);

  const rows = await query('select feed, settings from etl.feeds');
  expect(rows).toEqual([{ feed: '10/user-operations', settings: ofFile ?? { since: null } }]);
});

test('changed settings of a feed are recorded as an event, and its first ones are not', async () => {
  const { query, db } = await freshDatabase();
  const since = [null, null, '2026-01-01'];
  for (const each of since) await registerFeeds(db, listed({ since: each }), 'file', source);

  expect(await query('select kind, sentence from etl.events')).toEqual([
    { kind: 'config-changed', sentence: 'Other settings for 10/user-operations.' },
  ]);
});

test('a file that wants less ends the open run of what it wanted before, and no run of a command', async () => {
  const { query, db } = await freshDatabase();
  const operation = 'optimism-batch-blocks';
  const lane = { chain_id: 10, operation, lane: 'backfill' } as const;
  const register = async (fromBatch: number) => {
    const settings = { fromBatch, toBatch: null, reread: 2 };
    const feed = { chain_id: 10, chain_name: 'optimism', operation, settings } as const;
    return registerFeeds(db, [feed], 'file', source);
  };
  const states = () => query('select scope, state from etl.runs order by id');
  const open = (scope: Record<string, unknown>) => transact(db, (tx) => openRun(tx, lane, scope));
  await register(1);
  await open({ from_batch: 1, reread: 2 });

  const [changed] = await register(1000);

  expect(changed && changeText(changed)).toBe(
    '10/optimism-batch-blocks: from_batch 1000 instead of 1',
  );
  expect(await states()).toEqual([{ scope: { from_batch: 1, reread: 2 }, state: 'superseded' }]);
  await open({ from_batch: 7, reread: 2 });
  expect(await register(1000)).toEqual([]);
  await register(2000);
  expect(await states()).toMatchObject([{ state: 'superseded' }, { state: 'open' }]);
});

const storedChains = async (pool: Pool) =>
  (
    await pool.query(
      'select name, native_symbol as symbol, native_decimals::int as decimals, explorer_url as url from explorer.chains',
    )
  ).rows;

test('a chain has the currency and explorer that the file names, else the usual ones', async () => {
  const { pool, db } = await freshDatabase();
  const stored = async (chain: Partial<ChainSettings>, from: 'file' | 'flags') => {
    const [usual] = selectChains([], { chains: ['celo'], operations: ['factories'] }, () => {});
    const feeds = configuredFeeds(usual === undefined ? [] : [{ ...usual, ...chain }]);
    await registerFeeds(db, feeds, from, source);
    return storedChains(pool);
  };
  const usual = {
    name: 'celo',
    symbol: 'CELO',
    decimals: 18,
    url: 'https://celo.blockscout.com',
  };
  const own = { name: 'ours', symbol: 'X', decimals: 6, url: 'https://x.example' };
  const ofFile = { name: 'ours', nativeSymbol: 'X', nativeDecimals: 6, explorerUrl: own.url };

  expect(await stored({}, 'flags')).toEqual([usual]);
  expect(await stored(ofFile, 'file')).toEqual([own]);
  expect(await stored({}, 'flags')).toEqual([own]);
  expect(await stored({}, 'file')).toEqual([usual]);
});

test('an unknown chain is stored without symbol and explorer', async () => {
  const { pool } = await freshDatabase();
  const chains = selectChains([], { chains: ['999'], operations: ['factories'] }, () => {});
  await registerFeeds(drizzle(pool), configuredFeeds(chains), 'flags', source);
  expect(await storedChains(pool)).toEqual([
    { name: 'chain-999', symbol: null, decimals: 18, url: null },
  ]);
});

test('a page with a bad item does not deadlock with a transaction that locks its feed', async () => {
  const { pool, query, db } = await freshDatabase();
  await registerFeeds(db, listed({}), 'file', source);
  await query(`
    insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, pages)
    values (10, 'user-operations', 'backfill', 1, 'newest-first', '{}', 1)`);
  const page = await pool.connect();
  onTestFinished(() => page.release(true));
  await page.query("begin; set local lock_timeout = '100ms'; select from etl.walks for update");
  const other = { origin: 'http://127.0.0.2', isSameData: true };
  const claiming = registerFeeds(db, listed({}), 'file', other);
  await untilLocked(pool);

  await page.query(`
    insert into etl.quarantine (chain_id, operation, scope, raw, raw_hash, reason, page_id, position)
    values (10, 'user-operations', '{}', '{}', 'x', 'hash: missing', 1, 0)`);

  await page.query('commit');
  await claiming;
  const rows = await query(
    'select revision::int, origin from etl.walks join etl.feeds using (feed)',
  );
  expect(rows).toEqual([{ revision: 1, origin: other.origin }]);
});
