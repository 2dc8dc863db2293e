import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { accessViolations, bounded, scenesInBrowser, shifts } from './page.ts';
import { hostile } from './scenes.ts';

const openScene = scenesInBrowser();

/** Every document of the view is there, and so is what is drawn of it. */
const settled = async (page: Page) => {
  await page.waitForLoadState('networkidle');
  await page.getByText('Reading …').first().waitFor({ state: 'detached' });
};

const views = [
  '/',
  '/feed/10/user-operations',
  '/runs',
  '/explore',
  '/trace?term=128400112',
] as const;
// Each view once or twice, in either scheme and with each colour of the banner.
// What is hidden from a keyboard, unnamed for a screen reader, too pale, cut off or moved as it loads; what the policy refuses.
test.each([
  ['well', 'light', 360, ['/', '/feed/10/user-operations', '/explore']],
  ['reading', 'dark', 1_280, ['/runs', '/trace?term=128400112']],
  ['key-refused', 'dark', 360, ['/']],
  ['gap', 'light', 2_560, ['/feed/10/user-operations']],
  ['quarantine', 'light', 768, ['/']],
] as const)(
  'the page has no accessibility violation, overflow or layout shift: %s, %s, %d px',
  async (name, colorScheme, width, seen) => {
    const options = { colorScheme, viewport: { width, height: 900 } };
    const { page, complaints } = await openScene(name, '/', options);
    for (const view of seen) {
      await page.evaluate(`location.hash = '#${view}'`);
      await page.locator('main h1').first().waitFor({ state: 'attached' });
      await settled(page);
      expect(await page.evaluate<number>('document.body.scrollWidth - innerWidth'), view).toBe(0);
      expect(await accessViolations(page), view).toEqual([]);
    }
    expect(await shifts(page)).toBeLessThan(0.005);
    expect(complaints).toEqual([]);
  },
);

// A name that becomes an element, an attribute or a script.
test('text from the explorer is never rendered as HTML, in any view', async () => {
  const { page, complaints } = await openScene('quarantine');
  for (const view of [...views, '/explore/biggest-factories']) {
    await page.evaluate(`location.hash = '#${view}'`);
    await page.getByText('onerror=').first().waitFor({ state: 'attached' });
    expect(await page.locator('#app img, #app script').count()).toBe(0);
  }
  await page.evaluate(`location.hash = ${JSON.stringify(`#/feed/${encodeURIComponent(hostile)}`)}`);
  await page.getByText('There is no such feed').waitFor();
  expect(await page.locator('#app img, #app script').count()).toBe(0);
  expect(await page.title()).not.toContain('owned');
  expect(complaints).toEqual([]);
});

// A token that stays in the address, is needed again at each reload, or does not go with a file.
test('the page accepts only the token in the fragment of its URL', async () => {
  const token = 'a-token+of-thirty-characters-x';
  const { page, server } = await openScene('well', 'token=wrong', { token });
  await expect.poll(() => page.url(), bounded).toBe(server.url);
  await page.getByRole('alert').getByText('The token is missing or wrong.').waitFor();
  expect(await page.locator('main').textContent()).toBe('');
  await page.goto(`${server.url}#token=${token}`);
  await page.locator('.banner.good').waitFor();
  expect(page.url()).toBe(server.url);
  await page.reload();
  await page.locator('.banner.good').waitFor();
  await page.getByRole('link', { name: 'Explore' }).click();
  const save = page.getByRole('button', { name: 'Download CSV' });
  const [saved] = await Promise.all([page.waitForEvent('download'), save.click()]);
  expect(saved.suggestedFilename()).toBe('operations-daily.csv');
  expect(await page.context().cookies()).toEqual([]);
});

// A font or a picture of another host; a page that grows.
test('the page loads four files from its own server, less than 150 kB in all', async () => {
  const { page, server } = await openScene('well');
  await page.waitForLoadState('networkidle');
  const loaded = await page.evaluate<string[]>(
    `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => !name.endsWith('.json'))`,
  );
  expect(loaded.every((url) => url.startsWith(server.url))).toBe(true);
  const bodies = [server.url, ...loaded].map(async (url) => (await fetch(url)).arrayBuffer());
  const bytes = (await Promise.all(bodies)).reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(bytes).toBeGreaterThan(20_000);
  expect(bytes).toBeLessThan(150_000);
});

// What only a pointer reaches.
test('the keyboard can skip to the content, and reaches every link and command', async () => {
  const { page } = await openScene('key-refused');
  await page.locator('.feeds').waitFor();
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toMatch(/skip/i);
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN');
  const reached: string[] = [];
  for (let press = 0; press < 16; press += 1) {
    await page.keyboard.press('Tab');
    reached.push(await page.evaluate<string>('document.activeElement.textContent'));
  }
  expect(reached).toEqual(expect.arrayContaining(['Copy', 'optimism user operations']));
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('.banner').getByRole('button').press('Enter');
  await page.locator('.banner').getByText('Copied').waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('explorer-etl check');
});
