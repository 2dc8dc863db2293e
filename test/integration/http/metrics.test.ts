import { expect, test } from 'vitest';
import { addressText } from '../../../src/http/access.ts';
import type { StatusDocument } from '../../../src/status/schema.ts';
import { readStatus } from '../../../src/status/status.ts';
import { statusFaults, type SimulatorOptions } from '../../../simulator/index.ts';
import { createTestDatabase, type OpenDatabase } from '../../harness/database.ts';
import { observing, scraped, servedPage } from '../../harness/http.ts';
import { eventually } from '../../harness/process.ts';
import { openCopy, plainChain } from '../../harness/sync.ts';

const chain = {
  ...plainChain,
  userOperations: 230,
  batches: { first: 1, count: 3, blocks: 20 },
  factories: 20,
  // Its newest items are of the last hours, as those of a live chain are.
  startsAtMs: Date.now() - 2 * 3_600_000,
};

test('the counters of one sync and of two equal what the tables hold', async () => {
  const { scrape, sync, simulator, database } = await observedCopy();
  await sync();
  const first = await scrape();
  // Of all classes: under load a connection may be lost, and its request is sent again.
  for (const name of ['requests_total', 'request_duration_seconds_count']) {
    expect(sumOf(first, name), name).toBe(simulator.requests);
  }
  await expectTables(database, first);
  await sync();
  const second = await scrape();
  await expectTables(database, second);
  expect(
    second.of('explorer_etl_pages_total', { lane: 'live', outcome: 'unchanged' }),
  ).toBeGreaterThan(0);
});

test('the gauges equal what status reports', async () => {
  const { scrape, snapshot, sync } = await observedCopy();
  await sync();
  const shown = await scrape();
  const status = await snapshot();
  for (const { operation, unit, state, verified, newest_item, poll, ...own } of status.feeds) {
    const feed = { chain: '10', list: operation };
    const facts: Record<string, number | null | undefined> = {
      verified_ratio: verified.share,
      feed_poll_target_seconds: poll.target?.seconds,
      feed_item_age_seconds: newest_item?.age_s,
      feed_item_age_limit_seconds: newest_item?.limit_s,
      gaps: unit === 'ranks' ? null : verified.gaps,
      quarantine_items: own.quarantined,
      schema_drift: own.schema_drift,
      archive_bytes: own.archived_bytes,
    };
    for (const [name, value] of Object.entries(facts)) {
      expect(shown.of(`explorer_etl_${name}`, feed), name).toBe(value ?? undefined);
    }
    expect(shown.of('explorer_etl_feed_state', { ...feed, state })).toBe(1);
  }
  expect(shown.of('explorer_etl_overall_state', { state: status.overall.state })).toBe(1);
  expect(sumOf(shown, 'overall_state')).toBe(1);
  expect(shown.of('explorer_etl_budget_credits_spent')).toBe(status.credits.spent);
  expect(shown.of('explorer_etl_database_up')).toBe(1);
  expect(shown.of('explorer_etl_budget_credits_remaining')).toBe(status.credits.left ?? undefined);
  expect(sumOf(shown, 'lanes')).toBe(status.feeds.flatMap(({ lanes }) => lanes).length);
});

test('failed requests are counted by class, and failed pages by lane', async () => {
  const { scrape, sync } = await observedCopy({
    faults: ({ operation }) => (operation === 'factories' ? statusFaults['422'] : null),
  });
  await sync();
  const shown = await scrape();
  expect(shown.of('explorer_etl_requests_total', { class: 'rejected' })).toBe(1);
  expect(shown.of('explorer_etl_pages_total', { lane: 'backfill', outcome: 'failed' })).toBe(1);
  expect(
    shown.of('explorer_etl_feed_reason', {
      chain: '10',
      list: 'factories',
      code: 'request-rejected',
    }),
  ).toBe(1);
  expect(shown.of('explorer_etl_reasons', { code: 'request-rejected' })).toBe(1);
  expect(shown.of('explorer_etl_reasons', { code: 'key-refused' })).toBe(0);
});

test('each metric follows the format and the naming conventions of Prometheus', async () => {
  const { scrape, sync } = await observedCopy({}, withLimit);
  await sync();
  const { families } = await scrape();
  const broken = [...families].flatMap(([name, { help, type, samples }]) => [
    ...(/^[a-z][a-z0-9_]*$/u.test(name) ? [] : [`${name}: no name`]),
    ...(help.length > 0 ? [] : [`${name}: no help`]),
    ...((type === 'counter') === name.endsWith('_total') ? [] : [`${name}: ${type}`]),
    ...(/(?:_ms|_millis|_minutes|_count|_sum|_bucket)$/u.test(name) ? [`${name}: unit`] : []),
    ...(samples.every(({ value }) => type === 'gauge' || value >= 0) ? [] : [`${name}: below 0`]),
  ]);
  expect(broken).toEqual([]);
  const buckets = families.get('explorer_etl_transaction_duration_seconds')?.samples ?? [];
  const counts = buckets.filter(({ name }) => name.endsWith('_bucket')).map(({ value }) => value);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(counts.at(-1)).toBe(buckets.find(({ name }) => name.endsWith('_count'))?.value);
});

/** As the service reports what is left. */
const withLimit = (status: StatusDocument): StatusDocument => ({
  ...status,
  credits: { ...status.credits, limit: 1_000_000, left: 900_000, forecast: { kind: 'enough' } },
});

/** A copy, and what is scraped from this process while it works on it. */
async function observedCopy(
  options: Partial<SimulatorOptions> = {},
  change = (status: StatusDocument) => status,
) {
  const copy = await openCopy(chain, { seed: 6, ...options });
  const snapshot = async () => change(await readStatus(copy.db, 50));
  return { ...copy, snapshot, ...observing(snapshot) };
}

type Shown = Awaited<ReturnType<ReturnType<typeof observing>['scrape']>>;

const sumOf = (shown: Shown, name: string): number =>
  shown.all(`explorer_etl_${name}`).reduce((sum, { value }) => sum + value, 0);

/** The counters of a process that did all the work are what the ledger has. */
async function expectTables({ pool }: OpenDatabase, shown: Shown): Promise<void> {
  const { rows: pages } = await pool.query<{ lane: string; outcome: string; pages: number }>(`
    select lane, case when pages.inserted + pages.changed > 0 then 'changed' else 'unchanged' end as outcome,
           count(*)::int as pages
    from etl.pages join etl.walks on walks.id = walk_id
    group by 1, 2`);
  for (const { lane, outcome, pages: number } of pages) {
    expect(shown.of('explorer_etl_pages_total', { lane, outcome }), lane + outcome).toBe(number);
  }
  const { rows } = await pool.query<{ operation: string; inserted: number; changed: number }>(`
    select operation, sum(inserted)::int as inserted, sum(changed)::int as changed
    from etl.walks group by operation`);
  const tables: Readonly<Record<string, string>> = {
    'user-operations': 'explorer.user_operations',
    'optimism-batch-blocks': 'explorer.blocks',
    factories: 'explorer.factories',
  };
  for (const { operation, inserted, changed } of rows) {
    const of = (change: string) =>
      shown.of('explorer_etl_rows_total', { table: tables[operation] ?? '', change });
    expect([operation, of('inserted'), of('changed')]).toEqual([operation, inserted, changed]);
  }
}

test('metrics are served on both addresses, and without a database', async () => {
  const database = await createTestDatabase();
  // All has rested for long enough.
  let nowMs = 0;
  const now = () => (nowMs += 60_000);
  const address = { host: '127.0.0.1', port: 0 };
  const server = await servedPage(null, { address, metricsAddress: address, now });
  const { metricsAddress } = server;
  const scrape = async (at: typeof address | null) => {
    if (at === null) throw new Error('it has no address of its own');
    const answer = await fetch(`http://${addressText(at)}/metrics`);
    const families = scraped(await answer.text());
    const up = families.get('explorer_etl_database_up')?.samples[0]?.value;
    return [answer.status, answer.headers.get('content-type'), up];
  };
  const type = 'text/plain; version=0.0.4; charset=utf-8';
  expect(await scrape(metricsAddress)).toEqual([200, type, 0]);
  server.use(database.url);
  await eventually('the database is seen', async () => (await scrape(metricsAddress))[2] === 1);
  expect(await scrape(server.address)).toEqual([200, type, 1]);
  await database.drop();
  await eventually('its end is seen', async () => (await scrape(metricsAddress))[2] === 0);
});
