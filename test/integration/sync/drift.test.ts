import { expect, onTestFinished, test } from 'vitest';
import { transact } from '../../../src/db/transaction.ts';
import { recordDrift } from '../../../src/drift/drift.ts';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { readFeeds } from '../../../src/status/facts.ts';
import type { Generation } from '../../../simulator/index.ts';
import { freshDatabase } from '../../harness/database.ts';
import { findingText } from '../../harness/ledger.ts';
import { openCopy, shortChain } from '../../harness/sync.ts';

const chain = { ...shortChain, factories: 120 };
/** What the simulated explorer adds to some items by itself. */
const ownDrift = new Set([
  'creator_address_hash',
  'bundle_index',
  'optimism',
  'verified_deployments',
]);

async function world(operations: readonly string[], generation: Generation = 'v12') {
  const copy = await openCopy({ ...chain, generation }, { run: { operations } });
  const { served } = copy;
  const drift = async () => {
    const rows = await copy.query(`
      select kind, path, detail, occurrences::int, first_page_id::int as page
      from etl.drift order by operation, kind, path, detail`);
    return rows.filter(({ path }) => !ownDrift.has(String(path).split('.').at(-1) ?? ''));
  };
  /** Each item of every page from the given one on has these values; undefined: not the field. */
  const serve = (first: number, values: object) => {
    let pages = 0;
    served.alter = (page) => {
      pages += 1;
      if (pages >= first) for (const item of page.items) Object.assign(item, values);
      return page;
    };
  };
  return { ...copy, drift, serve };
}

test.each<Generation>(['v10', 'v11'])(
  'the older names of generation %s are no schema drift',
  async (generation) => {
    const { sync, drift } = await world(
      ['user-operations', 'optimism-batch-blocks', 'factories'],
      generation,
    );
    await sync();
    expect(await drift()).toEqual([]);
  },
);

test('a new field is kept in extra and counted, with the page that first showed it', async () => {
  const { sync, query, drift, serve } = await world(['factories']);
  serve(2, { region: { name: 'north' } });
  await sync();
  expect(await drift()).toEqual([
    { kind: 'field', path: 'region', detail: '', occurrences: 70, page: 2 },
  ]);
  expect(
    await query(
      `select count(*)::int as kept from explorer.factories where extra -> 'region' ->> 'name' = 'north'`,
    ),
  ).toEqual([{ kept: 70 }]);
});

test('of pages that are written together, the first one that shows a difference is kept', async () => {
  const { db, query } = await freshDatabase();
  const feed = { chain_id: 10, operation: 'factories', feed: '10/factories' };
  await query(
    `insert into etl.feeds (chain_id, operation, kind, settings) values (10, 'factories', 'ranked', '{}')`,
  );
  const field = { kind: 'field', path: 'region', detail: '' } as const;
  const driftReport = { drift: [{ ...field, count: 50 }], everywhere: [], nowhere: [] };
  const pages = [2, 3].map((page_id) => ({ page_id, driftReport }));

  const found = await transact(db, (tx) => recordDrift(tx, feed, pages, new Set()));

  expect(found).toEqual([{ ...field, page_id: 2 }]);
});

test.each([
  ['within a run', 2, 2],
  ['after a restart', 1, 3],
])('a field that was on every item and is on none has vanished, %s', async (_, from, times) => {
  const { sync, drift, serve } = await world(['factories']);
  if (from === 1) await sync();
  serve(from, { total_accounts: undefined });
  await sync();
  expect(await drift()).toEqual([
    expect.objectContaining({ kind: 'vanished', path: 'total_accounts', occurrences: times }),
  ]);
});

/** What is wrong with a value, how it is marked in extra, and what is not stored. */
const unread = [
  ['a field of a new type', 'type', 'object', 'fee', { wei: '12' }],
  ['a hash of a bad format', 'format', 'malformed', 'transaction_hash', '0x'],
  ['a time of a bad format', 'format', 'malformed', 'timestamp', '2026-01-02 03:04:05Z'],
  ['a number of a bad format', 'format', 'malformed', 'block_number', '0x10'],
] as const;

test.each(unread)(
  '%s leaves the item a row, and is kept in extra under its type',
  async (_, kind, label, path, value) => {
    const { db, sync, query, drift, serve } = await world(['user-operations']);
    serve(1, { [path]: value });
    await sync();
    expect(await drift()).toEqual([
      { kind, path, page: 1, detail: expect.any(String), occurrences: 120 },
    ]);
    expect(
      await query(`
        select count(*)::int as rows, count(${path})::int as stored,
               count(*) filter (where extra -> '${path} (${label})' = '${JSON.stringify(value)}')::int as kept,
               (select count(*)::int from etl.quarantine) as quarantined
        from explorer.user_operations`),
    ).toEqual([{ rows: 120, stored: 0, kept: 120, quarantined: 0 }]);
    const [report] = await verifyFeeds(db);
    const sentences = report?.notes.map(findingText).join('\n');
    expect(sentences).toMatch(new RegExp(`stored in extra.*: .*${path}`, 'u'));
  },
);

test("a field of an address with a new type is kept in the address's extra", async () => {
  const { served, sync, query, drift } = await world(['user-operations']);
  served.alter = (page) => {
    for (const { address } of page.items) {
      if (typeof address === 'object') Object.assign(address ?? {}, { name: ['a', 'b'] });
    }
    return page;
  };
  await sync();
  expect(await drift()).toMatchObject([{ kind: 'type', path: 'address.name', detail: 'array' }]);
  const kept = await query(
    `select from explorer.addresses where extra -> 'name (array)' = '["a", "b"]'`,
  );
  expect(kept.length).toBeGreaterThan(0);
});

test('an identity of a new type is no row', async () => {
  const { sync, query, serve } = await world(['user-operations']);
  serve(1, { hash: 12 });
  await sync();
  expect(await query('select reason, count(*)::int from etl.quarantine group by reason')).toEqual([
    { reason: 'hash: Invalid input: expected string, received number', count: 120 },
  ]);
});

test('a new value is kept as it is and counted once for each value', async () => {
  const { sync, query, drift, serve } = await world(['user-operations']);
  serve(1, { entry_point_version: 'v1.0' });
  await sync();
  expect(await drift()).toEqual([
    { kind: 'value', path: 'entry_point_version', detail: 'v1.0', occurrences: 120, page: 1 },
  ]);
  expect(
    await query('select distinct entry_point_version as version from explorer.user_operations'),
  ).toEqual([{ version: 'v1.0' }]);
});

test('the number of stored differences is bounded', async () => {
  const { served, sync, query } = await world(['factories']);
  let names = 0;
  served.alter = (page) => {
    for (const item of page.items) {
      for (let count = 0; count < 40; count += 1) item[`name${(names += 1)}`] = 1;
    }
    return page;
  };
  for (let count = 0; count < 3; count += 1) await sync({ pageSize: 2 });
  expect(await query('select count(*)::int from etl.drift')).toEqual([{ count: 1_000 }]);
});

test('schema drift is logged once a run, and counted by status and verify without being open', async () => {
  const { db, sync, serve } = await world(['factories']);
  serve(1, { region: 'north' });
  const write = process.stderr.write.bind(process.stderr);
  onTestFinished(() => void (process.stderr.write = write));
  let logged = '';
  process.stderr.write = (text: string | Uint8Array) => (logged += String(text)) !== '';
  await sync({ logLevel: 'warn' });
  await sync({ logLevel: 'warn' });
  process.stderr.write = write;
  expect(
    logged.match(/feed\.drift {2}10\/factories: items differ in \d+ new ways?,/g),
  ).toHaveLength(1);
  const [report] = await verifyFeeds(db);
  expect(report?.open).toEqual([]);
  expect(report?.notes.map(findingText)).toContainEqual(
    expect.stringMatching(/^\d+ unknown fields stored in extra: .*region/u),
  );
  const [status] = await readFeeds(db);
  const counts = report?.notes.map(({ count }) => count ?? 0) ?? [];
  expect(status?.shown.schema_drift).toBe(counts.reduce((sum, count) => sum + count, 0));
});

test('a page of another shape stops only its own feed, with the reason', async () => {
  const { served, sync, query } = await world(['user-operations', 'factories']);
  served.alter = (page, { pathname }) =>
    pathname.endsWith('factories') ? { data: page.items, note: 'line\u0007\nbreak' } : page;
  await sync();
  expect(
    await query('select operation, failure, reason from etl.feeds order by operation'),
  ).toEqual([
    {
      operation: 'factories',
      failure: 'envelope-invalid',
      reason: expect.stringMatching(
        /envelope-invalid: HTTP 200, items: .*; it begins \{"data":\[\{.*…\. /,
      ),
    },
    { operation: 'user-operations', failure: null, reason: null },
  ]);
});
