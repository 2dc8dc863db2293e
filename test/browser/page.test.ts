import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { outageStatus } from '../../src/status/status.ts';
import { accessViolations, bounded, scenesInBrowser } from './page.ts';
import { hostile, sceneOf } from './scenes.ts';

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

// A banner that stays green over a refused key, or without a worker.
test.each([
  ['well', 'good', 'Healthy: All feeds are current', null],
  ['reading', 'busy', 'Syncing: Reading history', null],
  ['gap', 'wait', 'Degraded: 10/user-operations: 1,230,000 blocks not', 'explorer-etl backfill'],
  ['no-worker', 'act', 'Stopped: No worker since 06:24 UTC.', 'explorer-etl start'],
  ['key-refused', 'act', 'Action needed: The explorer does not accept', 'explorer-etl check'],
] as const)('the banner of %s is %s', async (name, tone, sentence, command) => {
  const { page } = await openScene(name);
  const banner = page.locator(`.banner.${tone}`);
  await banner.waitFor();
  expect(await banner.textContent()).toContain(sentence);
  const since = { 'no-worker': '06:24 UTC.for 5 h · ', 'key-refused': 'for 1 min · ' };
  const when = new Map(Object.entries(since)).get(name) ?? '';
  expect(await banner.textContent()).toContain(`${when}as of 22 Nov 2026, 11:24:00 UTC`);
  const commands = await banner.locator('.command code').allTextContents();
  expect(commands.join()).toContain(command ?? '');
  expect(commands).toHaveLength(command === null ? 0 : 1);
  expect(await page.title()).toBe(`${sentence.split(':')[0]} · explorer-etl`);
  expect(await page.getByRole('heading', { name: 'Action needed' }).count()).toBe(
    name === 'key-refused' ? 1 : 0,
  );
});

// A page that is blank, or green, before it knows; one that looks current and is not.
test('the page claims nothing before the first status, nor once the program has stopped', async () => {
  const { page, server } = await openScene('well');
  await page.locator('.banner.good').waitFor();
  await page.clock.install();
  await page.route('**/status.json', () => {});
  await page.reload();
  expect(await page.locator('.banner.plain').textContent()).toContain('Starting');
  await page.unroute('**/status.json');
  await page.route('**/status.json', (route) => route.fulfill({ body: '<html>' }));
  await page.reload();
  await page.getByRole('alert').getByText('The answer is no JSON document.').waitFor();
  await page.unroute('**/status.json');
  await page.clock.fastForward(15_000);
  await page.locator('.banner.good').waitFor();
  await server.close();
  await page.clock.fastForward(15_000);
  await page.getByRole('alert').getByText('Not connected. What is shown may be old.').waitFor();
  expect(await page.locator('.feeds tbody tr').count()).toBe(6);
});

// Zero rows, or no feeds, while both are unknown.
test('the page shows no numbers while the database is unreachable', async () => {
  const { page, server } = await openScene('well', '/feed/10/user-operations');
  server.show({ status: outageStatus(new Date(), new Error('It is slow.')) });
  await page.reload();
  await page.getByText('Unknown until the database answers.').waitFor();
  expect(await page.locator('.numbers, .feeds, .facts').count()).toBe(0);
});

const shifts = (page: Page) =>
  page.evaluate<number>(
    `new Promise((resolve) => new PerformanceObserver((list) =>
       resolve(list.getEntries().reduce((sum, { value }) => sum + value, 0))
     ).observe({ type: 'layout-shift', buffered: true }) || setTimeout(() => resolve(0), 300))`,
  );

// A strip that ends amber beside a bare 100 %.
test('batches that are not verified yet are counted beside the share', async () => {
  const { page } = await openScene('well');
  const row = page.locator('.feeds tbody tr').nth(2);
  await row.getByText('2 to verify').waitFor();
  // The strips come after the rows.
  const strip = row.locator('svg[aria-label*="not verified yet"]');
  await strip.waitFor();
  expect(await strip.getAttribute('aria-label')).toContain('not verified yet 1.1 %');
});

// A table that stays where it is while it is read, or jumps as its numbers grow.
test('the table updates during a first read, without layout shifts', async () => {
  const { page, server } = await openScene('reading', '/', {
    viewport: { width: 1_280, height: 900 },
  });
  const row = page.locator('.feeds tbody tr').first();
  await row.getByText('12,000', { exact: true }).waitFor();
  expect(await row.locator('.chip').textContent()).toBe('running');
  expect(await row.textContent()).toContain('0.9 pages/s1.6 h left');
  expect(await row.textContent()).toContain('18.7 %being read');
  expect(await row.locator('svg').getAttribute('aria-label')).toContain('reading 5.6 %');
  const { status } = sceneOf('reading');
  const feeds = status.feeds.map((feed, at) => (at === 0 ? { ...feed, rows: 1_482_100 } : feed));
  server.show({ status: { ...status, feeds } });
  await row.getByText('1,482,100', { exact: true }).waitFor();
  server.show({ status: sceneOf('well').status });
  await page.locator('.banner.good').waitFor();
  expect(await shifts(page)).toBeLessThan(0.005);
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
