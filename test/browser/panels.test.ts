import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { spellAddress } from '../../src/http/address.ts';
import type { HttpServer } from '../../src/http/server.ts';
import { startSimulator, type SimulatedChain } from '../../simulator/index.ts';
import { accessViolations, connectBrowser, openPage } from '../harness/browser.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { startPage } from '../harness/http.ts';
import { sumUpAnew } from '../harness/sums.ts';
import { runSync, testKey } from '../harness/sync.ts';

const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 120,
  batches: { first: 1, count: 2, blocks: 60 },
  factories: 20,
};

/** As the service may name things. */
const hostile = `"><script>document.title = 'owned'</script><img src=x onerror="document.title='owned'">\u202E`;

let browser: Browser;
let database: TestDatabase;
let server: HttpServer;
let url: string;

beforeAll(async () => {
  browser = await connectBrowser();
  database = await createTestDatabase();
  const simulator = await startSimulator({ seed: 3, chains: [chain], apiKey: testKey });
  await runSync(database, { url: simulator.url, chains: [chain], archive: 'all' });
  await simulator.close();
  await sumUpAnew(database.pool);
  await database.pool.query('update explorer.addresses set name = $1', [hostile]);
  await database.pool.query(
    `insert into etl.quarantine (chain_id, operation, scope, raw, raw_hash, reason, page_id, position)
     values (10, 'user-operations', '{}', jsonb_build_object('name', $1::text), 'x', $1, 1, 1)`,
    [hostile],
  );
  server = await startPage(database.url);
  url = `http://${spellAddress(server.address)}/`;
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  await database?.drop();
});

/** A row that an answer of three does not have. */
const fourth = '#explore table.answer tbody tr:nth-child(4)';

const parameters = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

test('a question is asked by its link, and other panels keep what they were asked meanwhile', async () => {
  const { page, complaints } = await openPage(browser, url);
  await page.fill('#why-what', '2');
  await page.click('#why button[type=submit]');
  await page.waitForSelector('#why .why-row');
  await page.click('#explore .questions a >> text=Which factories made most accounts');
  await page.waitForSelector('#explore table.answer');
  expect(parameters(page)).toEqual({ 'why-what': '2', 'explore-question': 'biggest-factories' });
  await page.fill('#explore-limit', '3');
  await page.click('#explore-answer button[type=submit]');
  await page.waitForSelector(fourth, { state: 'detached' });
  expect(parameters(page)['explore-limit']).toBe('3');
  await page.goBack();
  await page.waitForSelector(fourth);
  expect(complaints).toEqual([]);
});

test('names that mean harm are text, and keep nobody out', async () => {
  const factory = await database.pool.query<{ hash: string }>(
    'select address_hash as hash from explorer.factories limit 1',
  );
  const query = new URLSearchParams({
    'why-what': factory.rows[0]?.hash ?? '',
    'explore-question': 'biggest-factories',
    'explore-word': 'wei',
  });
  const { page, complaints } = await openPage(browser, `${url}?${query.toString()}`, {
    viewport: { width: 360, height: 800 },
  });
  const folded = page.locator('main details:not([open]) > summary');
  while ((await folded.count()) > 0) await folded.first().click();
  expect(await page.title()).not.toContain('owned');
  expect(await page.locator('#explore').textContent()).toContain('<script>');
  expect(await page.locator('main script, main img').count()).toBe(0);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  expect(await accessViolations(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test('without script a form and a link lead to the same', async () => {
  const { page } = await openPage(browser, `${url}?explore-question=top-senders`, {
    javaScriptEnabled: false,
  });
  await page.fill('#why-what', '1');
  await page.click('#why button[type=submit]');
  expect(await page.locator('#why .why-row').count()).toBeGreaterThan(0);
  expect(parameters(page)).toMatchObject({ 'why-what': '1', 'explore-question': 'top-senders' });
  await page.click('#explore table.answer a');
  expect(await page.locator('#why-what').inputValue()).toMatch(/^0x/u);
});

test('a command is copied', async () => {
  const { page } = await openPage(browser, url, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.click('#needs-you button[data-copy="explorer-etl quarantine list"]');
  await page.waitForSelector('#needs-you button:has-text("Copied")');
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
    'explorer-etl quarantine list',
  );
});
