import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { spellAddress } from '../../src/http/address.ts';
import type { HttpServer } from '../../src/http/server.ts';
import { startSimulator, type SimulatedChain } from '../../simulator/index.ts';
import { accessViolations, connectBrowser, openPage } from '../harness/browser.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { startPage } from '../harness/http.ts';
import { runSync } from '../harness/sync.ts';

const chain: SimulatedChain = {
  id: 10,
  // Foreign text: it must stay text.
  name: '<img src=x onerror=alert(1)>',
  family: 'optimism',
  generation: 'v12',
  userOperations: 1_500,
  batches: { first: 1, count: 12, blocks: 20 },
  factories: 20,
};

let browser: Browser;
let database: TestDatabase;
let server: HttpServer;
let url: string;

beforeAll(async () => {
  browser = await connectBrowser();
  database = await createTestDatabase();
  const simulator = await startSimulator({ seed: 6, chains: [chain] });
  try {
    await runSync(database, { url: simulator.url, chains: [chain] });
  } finally {
    await simulator.close();
  }
  await database.pool.query(
    `update etl.lane_totals set proved = proved - (
       select int8multirange(int8range(
         min(block_number) + (max(block_number) - min(block_number)) / 3,
         min(block_number) + (max(block_number) - min(block_number)) * 2 / 5
       ))
       from explorer.user_operations
     )
     where feed = '10/user-operations'`,
  );
  await database.pool.query('delete from explorer.read_batches where batch_number between 4 and 5');
  await database.pool.query(`update explorer.chains set name = $1`, [chain.name]);
  server = await startPage(database.url);
  url = `http://${spellAddress(server.address)}/`;
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.close();
  await database?.drop();
});

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 360],
  ['dark', 2560],
] as const)('the ribbons keep nobody out, %s, %d px', async (colorScheme, width) => {
  const { page, complaints } = await openPage(browser, url, {
    colorScheme,
    viewport: { width, height: 900 },
  });
  await page.evaluate(
    `document.querySelectorAll('#coverage details').forEach((one, at) => (one.open = at === 0))`,
  );
  expect(await accessViolations(page)).toEqual([]);
  expect(complaints).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  const pictures = process.env['PICTURES'];
  if (pictures !== undefined) {
    await page.screenshot({
      path: `${pictures}/coverage-${colorScheme}-${width}.png`,
      fullPage: true,
    });
  }
});

test('a hole names its command, and a chain of markup is shown as text', async () => {
  const { page } = await openPage(browser, url);
  const coverage = page.locator('#coverage');
  expect(await coverage.textContent()).toContain(chain.name);
  expect(await coverage.locator('img').count()).toBe(0);
  const commands = await coverage
    .locator('.coverage-gaps [data-copy]')
    .evaluateAll((buttons) => buttons.map((button) => button.getAttribute('data-copy')));
  expect(commands).toEqual([
    expect.stringMatching(
      /^explorer-etl backfill --chain 10 --operation user-operations --from-block \d+ --to-block \d+$/u,
    ),
    'explorer-etl repair --chain 10 --operation optimism-batch-blocks',
  ]);
});

test('a stretch says what it is and is a link that the keyboard reaches, and goes back by the browser', async () => {
  const { page } = await openPage(browser, url);
  const coverage = page.locator('#coverage');
  const bar = coverage.locator('.coverage-bar').first();
  const before = await bar.getAttribute('aria-label');
  const gap = bar.getByRole('link', { name: /^gap: / });
  const card = gap.locator('.card');
  expect(await card.isVisible()).toBe(false);
  await coverage.getByRole('link', { name: '1 hour' }).focus();
  // The first stretch is what was proved below the gap.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await card.waitFor({ state: 'visible' });
  expect(await card.textContent()).toMatch(/blocks [\d,]+ to [\d,]+/u);
  await page.keyboard.press('Enter');
  await coverage.locator('.coverage-feed.chosen').waitFor();
  expect(new URL(page.url()).searchParams.get('coverage-feed')).toBe('10/user-operations');
  expect(await bar.getAttribute('aria-label')).not.toBe(before);
  await page.goBack();
  await coverage.locator('.coverage-feed.chosen').waitFor({ state: 'detached' });
  expect(await bar.getAttribute('aria-label')).toBe(before);
});

test('steps lead out, in and along, and end where the list does', async () => {
  const { page } = await openPage(browser, url);
  const feed = page.locator('#coverage .coverage-feed').first();
  const names = () =>
    feed
      .locator('.coverage-steps a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('title')));
  expect(await names()).toEqual(['Zoom in']);
  await feed.getByRole('link', { name: /^Zoom in/u }).click();
  await feed.getByRole('link', { name: /^Older/u }).waitFor();
  expect(await names()).toEqual(['Older', 'Newer', 'Zoom out', 'Zoom in']);
});

test('without script a segment of the bar, and a span, are links too', async () => {
  const { page } = await openPage(browser, url, { javaScriptEnabled: false });
  await page.locator('#coverage a:has(rect.stretch[fill="url(#coverage-gap)"])').first().click();
  expect(await page.locator('#coverage .coverage-feed.chosen').count()).toBe(1);
  await page.locator('#coverage').getByRole('link', { name: '1 hour' }).click();
  expect(new URL(page.url()).searchParams.get('coverage-span')).toBe('hour');
});
