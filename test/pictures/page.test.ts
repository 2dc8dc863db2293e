import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectBrowser, openPage, servePage } from '../browser/page.ts';
import { sceneNames } from '../browser/scenes.ts';

const folder = 'docs/images';

let browser: Browser;

beforeAll(async () => {
  browser = await connectBrowser();
});
afterAll(async () => {
  await browser?.close();
});

const views = {
  feeds: '/',
  feed: '/feed/10/user-operations',
  runs: '/runs',
  explore: '/explore',
  senders: '/explore/top-senders',
  trace: '/trace?term=128400112',
} as const;
const looks = [
  ['light', 1_280],
  ['dark', 1_280],
  ['light', 400],
  ['dark', 400],
] as const;

// README shows the first; the others are for who changes the page, and are not kept.
test.each(sceneNames)('%s', async (name) => {
  const server = await servePage(name);
  for (const [colorScheme, width] of looks) {
    const viewport = { width, height: 900 };
    const { page, complaints } = await openPage(browser, server.url, { colorScheme, viewport });
    for (const [view, path] of Object.entries(views)) {
      await page.evaluate(`location.hash = '#${path}'`);
      await page.locator('main h1').first().waitFor({ state: 'attached' });
      await page.waitForLoadState('networkidle');
      await page.getByText('Reading …').first().waitFor({ state: 'detached' });
      await page.waitForTimeout(200);
      const file = `${folder}/panels/${name}-${view}-${colorScheme}-${width}.png`;
      await page.screenshot({ path: file, fullPage: true });
      if (name === 'reading' && view === 'feeds' && colorScheme === 'light' && width > 400) {
        await page.screenshot({ path: `${folder}/page.png` });
      }
    }
    expect(complaints).toEqual([]);
  }
});
