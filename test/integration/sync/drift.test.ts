import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, test } from 'vitest';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { findingText } from '../../../src/status/findings.ts';
import { readFeeds } from '../../../src/status/facts.ts';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { alterExplorer, type ServedPage } from '../../harness/explorer.ts';
import { freshDatabase } from '../../harness/database.ts';
import { runSync, type SyncRun } from '../../harness/sync.ts';

const seed = 5;
const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 120,
  batches: { first: 1, count: 2, blocks: 20 },
  factories: 120,
};
/** What the simulated explorer adds to some items by itself. */
const ownDrift = new Set([
  'creator_address_hash',
  'bundle_index',
  'optimism',
  'verified_deployments',
]);

async function world(operations: readonly string[]) {
  const explorer = await alterExplorer(seed, chain);
  const database = await freshDatabase();
  const sync = (run: Partial<SyncRun> = {}) =>
    runSync(database, { url: explorer.url, chains: [chain], operations, ...run });
  const drift = async () => {
    const { rows } = await database.pool.query<Record<string, unknown>>(
      `select operation, kind, path, detail, occurrences::int, first_page_id::int as page
       from etl.drift order by operation, kind, path, detail`,
    );
    return rows.filter(({ path }) => !ownDrift.has(String(path).split('.').at(-1) ?? ''));
  };
  return { explorer, database, sync, drift };
}

/** Changes each item of every page from the given one on. */
const fromPage = (first: number, change: (item: Record<string, unknown>) => void) => {
  let served = 0;
  return (page: ServedPage): ServedPage => {
    served += 1;
    if (served >= first) for (const item of page.items) change(item);
    return page;
  };
};

test.each(['v10', 'v11', 'v12'] as const)(
  'the older names of generation %s are no drift',
  async (generation) => {
    const explorer = await alterExplorer(seed, { ...chain, generation });
    const database = await freshDatabase();
    await runSync(database, { url: explorer.url, chains: [chain] });
    const { rows } = await database.pool.query<{ path: string }>('select path from etl.drift');
    const paths = rows.map(({ path }) => path.split('.').at(-1) ?? '');
    expect(paths.filter((path) => !ownDrift.has(path))).toEqual([]);
  },
);

test('a new field is kept in extra and counted, with the page that first showed it', async () => {
  const { explorer, database, sync, drift } = await world(['factories']);
  explorer.alter = fromPage(2, (item) => {
    item['region'] = { name: 'north' };
  });
  await sync();
  expect(await drift()).toEqual([
    { operation: 'factories', kind: 'field', path: 'region', detail: '', occurrences: 70, page: 2 },
  ]);
  const { rows } = await database.pool.query(
    `select count(*)::int as kept from explorer.factories where extra -> 'region' ->> 'name' = 'north'`,
  );
  expect(rows).toEqual([{ kept: 70 }]);
});

test('a field that was on every item and is on none has vanished', async () => {
  const { explorer, sync, drift } = await world(['factories']);
  explorer.alter = fromPage(2, (item) => delete item['total_accounts']);
  await sync();
  expect(await drift()).toEqual([
    expect.objectContaining({ kind: 'vanished', path: 'total_accounts', occurrences: 2, page: 2 }),
  ]);
});

test('that fields are vanished is known after a restart too', async () => {
  const { explorer, sync, drift } = await world(['factories']);
  await sync();
  explorer.alter = fromPage(1, (item) => delete item['total_accounts']);
  await sync();
  expect(await drift()).toEqual([
    expect.objectContaining({ kind: 'vanished', path: 'total_accounts', occurrences: 3 }),
  ]);
});

test('a field of a new type leaves the item a row, and is kept in extra under its type', async () => {
  const { explorer, database, sync, drift } = await world(['user-operations']);
  explorer.alter = fromPage(1, (item) => {
    item['fee'] = { wei: '12' };
    if (typeof item['address'] === 'object')
      Object.assign(item['address'] ?? {}, { name: ['a', 'b'] });
  });
  await sync();
  const type = { operation: 'user-operations', kind: 'type', page: 1 };
  expect(await drift()).toEqual([
    { ...type, path: 'address.name', detail: 'array', occurrences: expect.any(Number) },
    { ...type, path: 'fee', detail: 'object', occurrences: 120 },
  ]);
  const { rows } = await database.pool.query(
    `select count(*)::int as rows, count(fee)::int as fees,
            count(*) filter (where extra -> 'fee (object)' ->> 'wei' = '12')::int as kept,
            (select count(*) from explorer.addresses
             where extra -> 'name (array)' = '["a", "b"]') as kept_names,
            (select count(*)::int from etl.quarantine) as quarantined
     from explorer.user_operations`,
  );
  expect(rows).toEqual([
    { rows: 120, fees: 0, kept: 120, kept_names: expect.any(String), quarantined: 0 },
  ]);
});

test('a value of a bad format leaves the item a row, and is kept in extra as malformed', async () => {
  const { explorer, database, sync, drift } = await world(['user-operations']);
  explorer.alter = fromPage(1, (item) => {
    item['transaction_hash'] = '0x';
    item['timestamp'] = '2026-01-02 03:04:05Z';
    item['block_number'] = '0x10';
  });
  await sync();
  const format = { operation: 'user-operations', kind: 'format', page: 1, occurrences: 120 };
  expect(await drift()).toEqual(
    ['block_number', 'timestamp', 'transaction_hash'].map((path) => ({
      ...format,
      path,
      detail: expect.any(String),
    })),
  );
  const { rows } = await database.pool.query(
    `select count(*)::int as rows,
            count(*) filter (where extra @> '{
              "transaction_hash (malformed)": "0x",
              "timestamp (malformed)": "2026-01-02 03:04:05Z",
              "block_number (malformed)": "0x10"
            }')::int as kept,
            count(coalesce(transaction_hash, timestamp::text, block_number::text))::int as bent,
            (select count(*)::int from etl.quarantine) as quarantined
     from explorer.user_operations`,
  );
  expect(rows).toEqual([{ rows: 120, kept: 120, bent: 0, quarantined: 0 }]);
  const [report] = await verifyFeeds(drizzle(database.pool));
  const sentences = report?.notes.map(findingText).join('\n');
  expect(sentences).toContain('fields of another format, stored in extra: block_number (');
  expect(sentences).toContain('transaction_hash (expected a hash: 0x and 64 hex digits)');
});

test('an identity of a new type is no row', async () => {
  const { explorer, database, sync } = await world(['user-operations']);
  explorer.alter = fromPage(1, (item) => {
    item['hash'] = 12;
  });
  await sync();
  const { rows } = await database.pool.query(
    'select reason, count(*)::int from etl.quarantine group by reason',
  );
  expect(rows).toEqual([
    { reason: 'hash: Invalid input: expected string, received number', count: 120 },
  ]);
});

test('a new value is kept as it is and told once for each value', async () => {
  const { explorer, database, sync, drift } = await world(['user-operations']);
  explorer.alter = fromPage(1, (item) => {
    item['entry_point_version'] = 'v1.0';
  });
  await sync();
  expect(await drift()).toEqual([
    expect.objectContaining({
      kind: 'value',
      path: 'entry_point_version',
      detail: 'v1.0',
      occurrences: 120,
    }),
  ]);
  const { rows } = await database.pool.query(
    'select distinct entry_point_version as version from explorer.user_operations',
  );
  expect(rows).toEqual([{ version: 'v1.0' }]);
});

test('a service that invents names without end fills no disk', async () => {
  const { explorer, database, sync } = await world(['factories']);
  let names = 0;
  explorer.alter = fromPage(1, (item) => {
    for (let count = 0; count < 40; count += 1) item[`name${(names += 1)}`] = 1;
  });
  for (let count = 0; count < 8; count += 1) await sync({ pageSize: 5 });
  const { rows } = await database.pool.query('select count(*)::int from etl.drift');
  expect(rows[0].count).toBe(1_000);
});

test('a run is warned of once for all new ways to differ, which are told by status and verify without being open', async () => {
  const { explorer, database, sync } = await world(['factories']);
  explorer.alter = fromPage(1, (item) => {
    item['region'] = 'north';
  });
  const write = process.stderr.write.bind(process.stderr);
  let logged = '';
  process.stderr.write = (text: string | Uint8Array) => (logged += String(text)) !== '';
  try {
    await sync({ logLevel: 'warn' });
    await sync({ logLevel: 'warn' });
  } finally {
    process.stderr.write = write;
  }
  expect(
    logged.match(/feed\.drift {2}10\/factories: items differ in \d+ new ways?,/g),
  ).toHaveLength(1);
  const db = drizzle(database.pool);
  const [report] = await verifyFeeds(db);
  expect(report?.open).toEqual([]);
  expect(report?.notes.map(findingText)).toContainEqual(
    expect.stringMatching(/^\d+ unknown fields stored in extra: .*region/u),
  );
  const [status] = await readFeeds(db);
  const counts = report?.notes.map(({ count }) => count ?? 0) ?? [];
  expect(status?.shown.schema_drift).toBe(counts.reduce((sum, count) => sum + count, 0));
});

test('a page of another shape stops its own feed only, with the evidence', async () => {
  const { explorer, database, sync } = await world(['user-operations', 'factories']);
  explorer.alter = (page, path) =>
    path.endsWith('factories') ? { data: page.items, note: 'line\u0007\nbreak' } : page;
  await sync();
  const { rows } = await database.pool.query(
    'select operation, state, reason from etl.feeds order by operation',
  );
  expect(rows).toEqual([
    {
      operation: 'factories',
      state: 'degraded',
      reason: expect.stringMatching(/envelope-invalid: items: .*; it begins \{"data":\[\{.*…\. /),
    },
    { operation: 'user-operations', state: 'idle', reason: null },
  ]);
});
