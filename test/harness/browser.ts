import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Pool } from 'pg';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { inject, onTestFinished } from 'vitest';
import { startSimulator, type SimulatedChain } from '../../simulator/index.ts';
import { spellAddress } from '../../src/http/address.ts';
import type { HttpServer } from '../../src/http/server.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { startPage } from './http.ts';
import { sumUpAnew } from './sums.ts';
import { runSync, testKey } from './sync.ts';

/** The browser of this run. Closing it closes the pages that were opened through it. */
export const connectBrowser = (): Promise<Browser> => chromium.connect(inject('browserEndpoint'));

/** What a browser complains of while it shows a page: errors of scripts, and what the policy refuses. */
export interface OpenedPage {
  readonly page: Page;
  readonly complaints: readonly string[];
}

/** Opens a page in a context of its own, which ends with the running test. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  return { page, complaints };
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

/** What keeps people from using the page, by axe and WCAG 2.2 AA: the rule and the element. */
export async function accessViolations(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary ?? ''}`),
  );
}

const shape = {
  family: 'optimism',
  generation: 'v12',
  batches: { first: 1, count: 12, blocks: 60 },
  factories: 20,
  // Its newest items are of the last hours, as those of a live chain are.
  startsAtMs: Date.now() - 2 * 3_600_000,
} as const;

/** How an explorer may name things. */
export const hostile = `"><script>document.title = 'owned'</script><img src=x onerror="document.title='owned'">`;

/** A page over two chains that were copied. */
export interface PageWorld {
  readonly database: TestDatabase;
  readonly server: HttpServer;
  readonly url: string;
  close(): Promise<void>;
}

/** @param state whether all is well, or much of what can happen has */
export async function openPageWorld(state: 'well' | 'trouble'): Promise<PageWorld> {
  const chains: SimulatedChain[] = [
    { ...shape, id: 10, name: 'optimism', userOperations: 1_500 },
    { ...shape, id: 42220, name: 'celo', userOperations: 600 },
  ];
  const database = await createTestDatabase();
  const simulator = await startSimulator({ seed: 6, chains, apiKey: testKey });
  try {
    await runSync(database, { url: simulator.url, chains, archive: 'all' });
  } finally {
    await simulator.close();
  }
  await sumUpAnew(database.pool);
  await noteMonth(database.pool);
  if (state === 'trouble') await makeTrouble(database.pool);
  const server = await startPage(database.url, {
    rest: { leastMs: 100, times: 2, mostMs: 1_000 },
  });
  return {
    database,
    server,
    url: `http://${spellAddress(server.address)}/`,
    async close() {
      await server.close();
      await database.drop();
    },
  };
}

/** A month as workers note it: minutes of a day, quarters of an hour before, and half a day when nobody worked. */
async function noteMonth(pool: Pool): Promise<void> {
  const times = `(
    select date_trunc('minute', t) as minute, 60 as span_s
    from generate_series(now() - interval '1 day', now(), '1 minute') t
    union all
    select date_bin('15 minutes', t, 'epoch'), 900
    from generate_series(now() - interval '30 days', now() - interval '1 day 15 minutes', '15 minutes') t
  ) as noted
  cross join lateral (select extract(epoch from minute)::int / 60 as at) as clock
  where minute not between now() - interval '9 days' and now() - interval '8.5 days'`;
  await pool.query(`
    insert into etl.feed_minutes (feed, minute, span_s, lag_s, looked_age_s, objective_s)
    select feed, minute, span_s, 40 + mod(at, 7) * 50, 20 + mod(at, 5) * 60, 600
    from etl.feeds, ${times}
    on conflict do nothing`);
  await pool.query(`
    insert into etl.lane_minutes (feed, lane, minute, span_s, pages, inserted, changed, quarantined,
      requests, credits, failures)
    select feed, 'live', minute, span_s, span_s / 60, span_s / 60 * (5 + mod(at, 11)), 1, 0, span_s / 60,
           span_s / 3, case when mod(at, 131) = 0 then '{"throttled": 2}' else '{}' end::jsonb
    from etl.feeds, ${times}
    on conflict do nothing`);
  await pool.query(`
    insert into etl.lane_minutes (feed, lane, minute, span_s, pages, inserted, changed, quarantined,
      requests, credits, failures)
    select feed, 'backfill', minute, span_s, span_s / 6, span_s * 8 + mod(at, 60), 0, 0, span_s / 6, span_s * 3,
           '{}'
    from etl.feeds, ${times} and operation = 'user-operations' and minute > now() - interval '7 hours'
    on conflict do nothing`);
  await pool.query(`update etl.budget set daily_credits = 100000, credits_spent = 62400`);
}

async function makeTrouble(pool: Pool): Promise<void> {
  await pool.query(
    `update etl.lane_totals set proved = proved - (
       select int8multirange(int8range(
         min(block_number) + (max(block_number) - min(block_number)) / 3,
         min(block_number) + (max(block_number) - min(block_number)) * 2 / 5
       ))
       from explorer.user_operations where chain_id = 10
     )
     where feed = '10/user-operations'`,
  );
  await pool.query('delete from explorer.read_batches where batch_number between 4 and 5');
  await pool.query('update explorer.chains set name = $1 where chain_id = 42220', [hostile]);
  await pool.query('update explorer.addresses set name = $1 where chain_id = 42220', [hostile]);
  await pool.query(
    `insert into etl.quarantine (chain_id, operation, scope, raw, raw_hash, reason, page_id, position)
     select 10, 'user-operations', '{}', jsonb_build_object('hash', '0x12', 'name', $1::text), 'x',
            $1, min(id), 1 from etl.pages`,
    [hostile],
  );
  await pool.query(
    `insert into etl.drift (chain_id, operation, path, kind, detail, occurrences, first_page_id)
     select 42220, 'factories', $1, 'field', $1, 3, min(id) from etl.pages`,
    [hostile],
  );
  await pool.query(
    `update etl.feeds set state = 'degraded', failure = 'envelope-invalid', reason = $1
     where feed = '42220/factories'`,
    [hostile],
  );
  await pool.query(
    `update etl.feeds set state = 'unauthorized', failure = 'key-missing'
     where feed = '42220/optimism-batch-blocks'`,
  );
  await pool.query(`update etl.feed_minutes set looked_age_s = 90 * 60
    where feed = '10/user-operations' and minute between now() - interval '7 hours' and now() - interval '5 hours'`);
}
