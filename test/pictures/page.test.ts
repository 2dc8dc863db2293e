import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectBrowser, openPage, openPageWorld, type PageWorld } from '../harness/browser.ts';

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
  // The first screen of the one that README shows; the whole of the others, which are not kept.
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: name !== 'page' });
  expect(complaints).toEqual([]);
});

/** As they stand on a sheet: two beside each other, the wide ones above. */
const looks = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 360],
  ['dark', 360],
] as const;

const panels = {
  verdict: '',
  coverage: '',
  freshness: '?freshness-feed=10%2Fuser-operations',
  throughput: '?throughput-span=month',
  credits: '',
  'needs-you': '',
  why: '?why-what=105000100',
  explore: '?explore-question=biggest-factories',
} as const;

async function pictureOf(url: string, id: string, [colorScheme, width]: (typeof looks)[number]) {
  const { page } = await openPage(browser, url, { colorScheme, viewport: { width, height: 3000 } });
  const panel = page.locator(`#${id}`);
  return { picture: await panel.screenshot(), text: await panel.textContent() };
}

const sheetStyle =
  'body { display: grid; grid-template-columns: max-content max-content; gap: 16px; margin: 16px; align-items: start; width: max-content; background: #888 }';

test.each(
  Object.entries(panels).flatMap(([panel, query]) =>
    (['well', 'trouble'] as const).map((state) => ({ panel, query, state })),
  ),
)('$panel, $state', async ({ panel, query, state }) => {
  const pictures = [];
  for (const look of looks) {
    const { picture, text } = await pictureOf(`${worlds[state].url}${query}`, panel, look);
    expect(text).not.toContain("can't be shown");
    pictures.push(`<img src="data:image/png;base64,${picture.toString('base64')}">`);
  }
  const sheet = await browser.newPage({ viewport: { width: 2608, height: 600 } });
  await sheet.setContent(`<style>${sheetStyle}</style>${pictures.join('')}`);
  await sheet.locator('body').screenshot({ path: `${folder}/panels/${panel}-${state}.png` });
  await sheet.close();
});
