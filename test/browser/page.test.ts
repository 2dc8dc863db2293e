import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { outageStatus } from '../../src/status/status.ts';
import { hangMs } from '../harness/process.ts';
import { accessViolations, connectBrowser, openPage, servePage } from './page.ts';
import { hostile, sceneOf, type SceneName } from './scenes.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await connectBrowser();
});
afterAll(async () => {
  await browser?.close();
});

/** The page over a state, at one of its views. */
async function openScene(
  name: SceneName,
  view = '/',
  options: Parameters<typeof openPage>[2] & { readonly token?: string } = {},
) {
  const server = await servePage(name, options.token);
  const opened = await openPage(browser, `${server.url}#${view}`, options);
  return { ...opened, server };
}

/** Every document of the view is there, and so is what is drawn of it. */
const settled = async (page: Page) => {
  await page.waitForLoadState('networkidle');
  await page.getByText('Reading …').first().waitFor({ state: 'detached' });
};

/** For what follows an input: a busy machine takes its time. */
const bounded = { timeout: hangMs };

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

// A gap without its command; a window that one cannot leave again.
test('a feed lists its gaps with their commands, and its coverage can be zoomed', async () => {
  const { page } = await openScene('gap');
  await page.getByRole('link', { name: 'optimism user operations' }).click();
  const gaps = page.locator('.card:has(.bar) .advice');
  await gaps.waitFor();
  expect(await gaps.locator('li').count()).toBe(2);
  expect(await gaps.textContent()).toContain('blocks 128,400,112 to 128,951,023');
  expect(await gaps.textContent()).toContain('about 1,240 requests');
  expect(await gaps.locator('code').first().textContent()).toContain('--from-block 128400112');
  const axis = page.locator('.card:has(.bar) .axis');
  await page.getByText('138,000,000 · 1 Oct 2025, 19:24 to 22 Nov 2026, 11:24 UTC.').waitFor();
  await page.getByRole('link', { name: 'Zoom in' }).click();
  await axis.getByText('124,500,000').waitFor();
  const box = (await page.locator('.bar').boundingBox())!;
  await page.mouse.click(box.x + box.width / 4, box.y + 5);
  await expect.poll(() => page.url(), bounded).toMatch(/from=1256\d{5}&to=1278\d{5}$/u);
  await page.goBack();
  await page.goBack();
  await axis.getByText('120,000,000').waitFor();
});

// A failure whose reason is nowhere; a crosshair that only a pointer moves.
test('a feed shows why it failed, and its charts can be read with the keyboard', async () => {
  const { page } = await openScene('key-refused', '/feed/10/user-operations');
  await page.getByText('The explorer does not accept the API key.').first().waitFor();
  await page.getByText('The explorer refuses the API key (401).').first().waitFor();
  const legend = page.locator('.charts .legend').first();
  const newest = await legend.textContent();
  await page.getByRole('img', { name: /^Throughput: 96 points/u }).focus();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => legend.textContent(), bounded).not.toBe(newest);
  expect(await legend.textContent()).toContain('22 Nov 2026, 10:54');
});

/** Whether the chart of the lag has pixels of the colour that its legend shows. */
const isLagDrawn = `(() => {
  const figure = document.querySelector('[role="img"][aria-label^="Lag"]').closest('figure');
  const pixelsOf = (canvas) =>
    canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const sample = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
  const context = sample.getContext('2d');
  context.fillStyle = figure.querySelector('.legend rect').getAttribute('fill');
  context.fillRect(0, 0, 1, 1);
  const [wanted] = new Uint32Array(pixelsOf(sample).buffer);
  return new Uint32Array(pixelsOf(figure.querySelector('canvas')).buffer).includes(wanted);
})()`;

// An empty chart of a feed that was polled once.
test('a chart draws a lone value, wherever it is', async () => {
  const { page, server } = await openScene('well', '/feed/10/user-operations');
  const { throughput } = sceneOf('well');
  const last = throughput.bins.length - 1;
  const show = async (lone: number | null) => {
    const bins = throughput.bins.map((bin, at) => ({ ...bin, lag_s: at === lone ? 180 : null }));
    server.show({ throughput: { ...throughput, bins } });
    await page.reload();
    const legend = page.locator('.legend', { hasText: 'age of the newest item' });
    await legend.getByText(lone === null ? '–' : '3 min', { exact: true }).waitFor();
  };
  const isDrawn = () => page.evaluate<boolean>(isLagDrawn);
  await show(null);
  expect(await isDrawn()).toBe(false);
  for (const lone of [0, 48, last]) {
    await show(lone);
    await expect.poll(isDrawn, { ...bounded, message: `bin ${lone}` }).toBe(true);
  }
});

// Runs without the kill that ended them.
test('runs of the day are listed with the events of workers', async () => {
  const { page } = await openScene('reading', '/runs');
  await page.getByText('145 runs, 0 failed').waitFor();
  expect(await page.locator('.timeline tbody tr').count()).toBe(7);
  await page.getByText('A worker was killed.').first().waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Show more of 147' }).click();
  await expect
    .poll(() => page.locator('table').last().locator('tbody tr').count(), bounded)
    .toBe(100);
});

// Words that break in their middle because another cell is long.
test('a long reason does not wrap the columns beside it', async () => {
  const { page, server } = await openScene('well', '/runs', {
    viewport: { width: 1_280, height: 900 },
  });
  const { runs } = sceneOf('well');
  const events = runs.events.map((event) => ({ ...event, sentence: 'A long reason. '.repeat(20) }));
  server.show({ runs: { ...runs, events } });
  await page.reload();
  await page.getByText('A long reason.').first().waitFor({ state: 'attached' });
  const heights = await page.evaluate<number[]>(
    `[...document.querySelectorAll('table:last-of-type :is(th.number, td[data-name="Lane"])')].map((cell) => {
       const range = document.createRange();
       range.selectNodeContents(cell);
       return range.getBoundingClientRect().height;
     })`,
  );
  expect(heights.length).toBeGreaterThan(20);
  expect(Math.max(...heights)).toBeLessThan(30);
});

// An empty page, a chain that is a number, a share that is not of 100, a file without its token.
test('Explore opens with a chart, and its results can be saved', async () => {
  const { page } = await openScene('well', '/explore');
  await page.getByText('How many user operations are there a day?').waitFor();
  await page.getByText('sums up to 06:20 UTC').waitFor();
  const legend = page.locator('.card:has(pre) .legend');
  expect(await legend.textContent()).toMatch(/22 Nov 2026optimism [\d.]+Kcelo [\d.]+K/u);
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download CSV' }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe('operations-daily.csv');
  await page.getByText('SQL', { exact: true }).click();
  await page.getByText('from explorer.operations_daily').waitFor();
  await page.getByRole('link', { name: 'entry points' }).click();
  await legend.getByText('v0.6').waitFor();
  const shares = [...((await legend.textContent()) ?? '').matchAll(/(?<share>[\d.]+) %/gu)];
  const sum = shares.reduce((total, { groups }) => total + Number(groups?.['share']), 0);
  expect(sum).toBeCloseTo(100, 0);
  await page.getByRole('link', { name: 'biggest factories' }).click();
  await page.locator('.card:has(pre) table').getByText('4,120,345').waitFor();
});

// A row that leads nowhere.
test('a trace leads from a term to the response that contained it', async () => {
  const { page } = await openScene('well', '/trace');
  await page.getByLabel('Hash, address or height').fill(' 128400112 ');
  await page.keyboard.press('Enter');
  await page.getByText('From page 12 of walk 41').waitFor();
  expect(page.url()).toMatch(/#\/trace\?term=128400112$/u);
  await page.getByText('Archived body').click();
  await page.locator('pre').getByText('"items"').waitFor();
  await page.getByText('status changed from pending to included.').waitFor();
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
