import { expect, test } from 'vitest';
import { statusText } from '../../src/cli/status.ts';
import { plainLook } from '../../src/terminal/layout.ts';
import { feedOf, statusOf } from '../harness/status.ts';
import { outageStatus } from '../../src/status/status.ts';
import { scenesInBrowser, shifts } from './page.ts';
import { sceneOf, type SceneName } from './scenes.ts';

const openScene = scenesInBrowser();

// A banner that stays green over a refused key, or without a worker.
test.each([
  ['well', 'good', 'Healthy: All feeds are current', null],
  ['reading', 'busy', 'Syncing: Reading history', null],
  [
    'gap',
    'wait',
    'Degraded: optimism user operations: 1,230,000 blocks not',
    'explorer-etl backfill',
  ],
  ['no-worker', 'act', 'Stopped: No worker. No page since 06:24 UTC.', 'explorer-etl start'],
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

// A banner that says only that something is wrong, and hides what to do below a fold.
test('the banner names the failing explorer, since when, the next try and what to do', async () => {
  const { page, server } = await openScene('outage');
  const banner = page.locator('.banner');
  const shows = async (name: SceneName, ...texts: string[]) => {
    server.show({ status: sceneOf(name).status });
    await page.reload();
    for (const text of texts) await banner.getByText(text).waitFor();
  };
  const outage = 'No answer from api.blockscout.com since 10:52 UTC: HTTP 503, Service Unavailable';
  await shows(
    'outage',
    `${outage}; next try 11:24:38 UTC.`,
    'check the network',
    'for 32 min · as',
  );
  const asOf = 'as of 22 Nov 2026, 11:24:00 UTC';
  const tried = 'api.blockscout.com · next try 11:25 UTC';
  await shows('key-refused', 'Correct EXPLORER_API_KEY', `${tried} · for 1 min · ${asOf}`);
  await shows('wrong-chain', 'Check its number, or remove it', `${tried} · ${asOf}`);
  await shows('many', 'check the plan of the key', `${tried} · for 1 min · ${asOf}`);
  expect(await banner.locator('.command').count()).toBe(0);
});

// One sentence in three rows, beside the banner.
test('the cause that several feeds have in common is not repeated in their rows', async () => {
  const { page, server } = await openScene('many');
  const rows = page.locator('.feeds tbody tr');
  await rows.nth(31).waitFor();
  expect(await page.locator('.banner').textContent()).toContain('3 of 32 feeds: forbidden: HTTP');
  expect(await page.locator('.feeds').textContent()).not.toContain('forbidden');
  server.show({ status: sceneOf('wrong-chain').status });
  await page.reload();
  await rows.nth(4).getByText('unsupported').waitFor();
  expect(await page.locator('.feeds').textContent()).not.toContain('does not serve');
});

// A feed that is "10/user-operations", "optimism user operations" and "user-operations".
test('a feed has one name in banner, rows, links and notes', async () => {
  const { page } = await openScene('paused');
  const text = () => page.locator('#app').innerText();
  await page.locator('.banner').getByText('optimism batches: Paused since').waitFor();
  await page.getByText('base user operations, base factories').waitFor();
  expect(await text()).not.toMatch(/\d+\/[a-z]/u);
  for (const view of ['runs', 'feed/10/optimism-batches', 'trace?term=128400112']) {
    await page.evaluate(`location.hash = '#/${view}'`);
    await page.locator('main').getByText('optimism ').first().waitFor();
    expect(await text(), view).not.toMatch(/(?<!\w)\d+\/[a-z]/u);
  }
});

// "No notes" over what the terminal prints below its table.
test('the page has the notes of the terminal, on the feeds that they are about', async () => {
  const { page, server } = await openScene('well');
  await page.getByText('No notes').waitFor();
  const feeds = [feedOf({ schema_drift: 5 }), feedOf({ operation: 'factories' })];
  const status = statusOf(feeds);
  const [note] = status.notes;
  expect(statusText(status, plainLook)).toContain(note?.sentence);
  server.show({ status });
  for (const view of ['', 'feed/10/user-operations']) {
    await page.goto(`${server.url}#/${view}`);
    await page.reload();
    await page.getByText('1 note').click();
    await page.locator('.advice').getByText('5 differences from the specification').waitFor();
    await page.getByText('explorer-etl verify', { exact: true }).waitFor();
  }
  await page.evaluate(`location.hash = '#/feed/10/factories'`);
  await page.getByText('No notes').waitFor();
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
  expect(await row.textContent()).toContain('0.9 pages/s≤ 1.6 h left');
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
