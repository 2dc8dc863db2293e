import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectBrowser, openPage } from '../support/browser.ts';
import { openPageWorld, type PageWorld } from '../support/page-world.ts';

const folder = 'docs/images';

let browser: Browser;
let worlds: Readonly<Record<'well' | 'trouble', PageWorld>>;

beforeAll(async () => {
  browser = await connectBrowser();
  worlds = { well: await openPageWorld('well'), trouble: await openPageWorld('trouble') };
});
afterAll(async () => {
  await browser?.close();
  await worlds?.well.close();
  await worlds?.trouble.close();
});

test.each([
  ['page', 'well', 'light', 1280],
  ['page-trouble-dark', 'trouble', 'dark', 1280],
  ['page-narrow', 'trouble', 'light', 360],
  ['page-wide-dark', 'well', 'dark', 2560],
] as const)('%s', async (name, state, colorScheme, width) => {
  const { page, complaints } = await openPage(browser, worlds[state].url, {
    colorScheme,
    viewport: { width, height: 900 },
  });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  expect(complaints).toEqual([]);
});

test.each([
  ['coverage', '', 'coverage'],
  ['freshness', '?freshness-feed=10%2Fuser-operations', 'freshness'],
  ['throughput', '?throughput-span=month', 'throughput'],
  ['credits', '', 'credits'],
  ['needs-you', '', 'needs-you'],
  ['why', '?why-what=105000100', 'why'],
  ['explore', '?explore-question=biggest-factories', 'explore'],
] as const)('%s', async (name, query, panel) => {
  const { page } = await openPage(browser, `${worlds.trouble.url}${query}`, {
    viewport: { width: 1280, height: 900 },
  });
  await page.locator(`#${panel}`).screenshot({ path: `${folder}/page-${name}.png` });
  expect(await page.locator(`#${panel}`).textContent()).not.toContain("can't be shown");
});
