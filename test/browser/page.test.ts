import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  accessViolations,
  connectBrowser,
  hostile,
  openPage,
  openPageWorld,
  type PageWorld,
} from '../harness/browser.ts';
import { servedPage } from '../harness/http.ts';

let browser: Browser;
let well: PageWorld;
let troubled: PageWorld;

beforeAll(async () => {
  browser = await connectBrowser();
  [well, troubled] = await Promise.all([openPageWorld('well'), openPageWorld('trouble')]);
});
afterAll(async () => {
  await browser?.close();
  await well?.close();
  await troubled?.close();
});

const urlOf = (state: 'well' | 'trouble') => (state === 'well' ? well : troubled).url;

/** How much wider than the window the page is, in pixels. */
const overflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');

// What is hidden from a keyboard, unnamed for a screen reader, too pale, or cut off at one's width.
test.each([
  ['well', 'light', 360],
  ['well', 'dark', 1280],
  ['trouble', 'light', 1280],
  ['trouble', 'dark', 360],
  ['trouble', 'light', 2560],
] as const)('nobody is kept out: %s, %s, %d px', async (state, colorScheme, width) => {
  const { page, complaints } = await openPage(browser, urlOf(state), {
    colorScheme,
    viewport: { width, height: 900 },
  });
  expect(await overflow(page)).toBe(0);
  expect(await accessViolations(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

// A name that becomes an element, a link that is a script.
test('what the explorer says is text, in every panel', async () => {
  const { page, complaints } = await openPage(browser, troubled.url);
  expect(await page.title()).not.toContain('owned');
  expect(await page.locator('main script, main img, main iframe').count()).toBe(0);
  expect(
    await page.locator('a[href^="javascript:" i], [onerror], [onclick], [style]').count(),
  ).toBe(0);
  for (const id of ['coverage', 'needs-you']) {
    expect(await page.locator(`#${id}`).textContent()).toContain(hostile.slice(0, 30));
  }
  expect(complaints).toEqual([]);
});

// A font, a script or a picture of elsewhere; a page that grows.
test('it loads nothing of elsewhere, and less than 150 kB in all', async () => {
  const { page } = await openPage(browser, well.url);
  const loaded = () =>
    page.evaluate<string[]>(
      `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => !name.includes('/panels/') && !name.endsWith('/events'))`,
    );
  await expect.poll(async () => (await loaded()).length, { timeout: 120_000 }).toBeGreaterThan(2);
  const urls = [well.url, ...(await loaded())];
  expect(new Set(urls.map((url) => new URL(url).host))).toEqual(new Set([new URL(well.url).host]));
  const bodies = await Promise.all(urls.map(async (url) => (await fetch(url)).arrayBuffer()));
  const bytes = bodies.reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(bytes).toBeGreaterThan(20_000);
  expect(bytes).toBeLessThan(150_000);
});

// A panel that stays old; a fold that closes, text that is lost or a focus that jumps under one's hands.
test('news come by themselves, and what somebody has opened, written or focused stays', async () => {
  const { page, complaints } = await openPage(browser, well.url);
  const needs = page.locator('#needs-you');
  await page.locator('#coverage details > summary').first().click();
  await page.fill('#why-what', '0xabc');
  await page.focus('#why-what');
  expect(await needs.textContent()).not.toContain('quarantine list');
  await well.database.pool.query(
    `insert into etl.quarantine (chain_id, operation, scope, raw, raw_hash, reason, page_id, position)
     select 10, 'factories', '{}', '{}', 'y', 'no hash', min(id), 1 from etl.pages`,
  );
  await needs.getByText('quarantine list').first().waitFor({ timeout: 120_000 });
  expect(await page.locator('#coverage details').first().getAttribute('open')).not.toBe(null);
  expect(await page.inputValue('#why-what')).toBe('0xabc');
  expect(await page.evaluate('document.activeElement.id')).toBe('why-what');
  await well.database.pool.query('delete from etl.quarantine');
  await needs.getByText('Nothing needs you').waitFor({ timeout: 120_000 });
  expect(complaints).toEqual([]);
});

// A panel, a link or a form that only a script makes.
test('without script it shows the same panels, and says the same of them', async () => {
  const [{ page: plain }, { page: full }] = [
    await openPage(browser, troubled.url, { javaScriptEnabled: false }),
    await openPage(browser, troubled.url),
  ];
  const titles = (page: Page) => page.locator('main h2').allTextContents();
  expect(await titles(plain)).toEqual(await titles(full));
  expect(await titles(plain)).toHaveLength(8);
  await plain
    .locator('#throughput a', { hasText: /30 days/i })
    .first()
    .click();
  expect(plain.url()).toContain('throughput-span=');
});

// What only a pointer reaches.
test('the keyboard reaches the panels, the ribbons and the commands', async () => {
  const { page } = await openPage(browser, troubled.url);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toMatch(/skip/i);
  await page.keyboard.press('Enter');
  const reached = new Set<string>();
  for (let press = 0; press < 80; press += 1) {
    await page.keyboard.press('Tab');
    reached.add(
      await page.evaluate<string>(
        `[document.activeElement.closest('section')?.id, document.activeElement.tagName].join(' ')`,
      ),
    );
  }
  expect([...reached]).toEqual(
    expect.arrayContaining(['coverage A', 'coverage SUMMARY', 'coverage BUTTON']),
  );
});

// A token that stays in the address, is asked for again at each reload, or does not reach the events.
test("the token in the address's fragment lets in, and nothing else", async () => {
  const token = 'a-token+of-thirty-characters-x';
  const guarded = await servedPage(well.database.url, { token });
  const url = `http://127.0.0.1:${guarded.address.port}/`;
  const { page } = await openPage(browser, `${url}#token=no-token-at-all`);
  const refusal = page.getByRole('alert');
  const coverage = page.locator('#coverage h2');
  await expect.poll(() => page.url()).toBe(url);
  expect(await refusal.textContent()).toContain('The token is missing or wrong.');
  expect(await coverage.count()).toBe(0);

  const events = page.waitForResponse('**/events');
  await page.goto(`${url}#token=${token}`);
  await coverage.waitFor({ timeout: 120_000 });
  expect(page.url()).toBe(url);
  expect((await events).status()).toBe(200);
  await page.reload();
  await coverage.waitFor({ timeout: 120_000 });
  await page
    .locator('#throughput a', { hasText: /30 days/i })
    .first()
    .click();
  await expect.poll(() => page.url()).toContain('throughput-span=');
  expect(await page.context().cookies()).toEqual([]);
});

// A page that stays unconnected for ever, because a browser makes no second try.
test('news that were refused are asked for again, and the title tells the verdict', async () => {
  const { page } = await openPage(browser, well.url);
  const says = () => page.locator('#connection').textContent();
  await page.clock.install();
  await page.route('**/events', (route) => route.fulfill({ status: 503 }));
  await page.reload();
  await expect.poll(says, { timeout: 120_000 }).toMatch(/^Not connected/);
  expect(await page.title()).toBe('not connected · explorer-etl');
  await page.unroute('**/events');
  await page.clock.fastForward(60_000);
  await expect.poll(says, { timeout: 120_000 }).toBe('');
  await expect.poll(() => page.title(), { timeout: 120_000 }).toBe('healthy · explorer-etl');
});

// A page that looks current and is not.
test('it says that the program is away', async () => {
  const gone = await openPageWorld('well');
  const { page } = await openPage(browser, gone.url);
  await gone.close();
  const says = () => page.locator('#connection').textContent();
  await expect.poll(says, { timeout: 120_000 }).toBe('Not connected. What is shown may be old.');
});
