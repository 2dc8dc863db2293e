import { expect, test } from 'vitest';
import { bounded, scenesInBrowser } from './page.ts';
import { sceneOf } from './scenes.ts';

const openScene = scenesInBrowser();

// A gap without its command; a window that one cannot leave again.
test('a feed lists its gaps with their commands, and its coverage can be zoomed', async () => {
  const { page } = await openScene('gap');
  await page.getByRole('link', { name: 'optimism user operations' }).click();
  const gaps = page.locator('.card:has(.bar) > .advice');
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

// A page from which nothing can be done; a command that the program would refuse.
test('a feed has the commands that fit its state, to copy', async () => {
  const { page } = await openScene('paused', '/feed/10/user-operations');
  const commands = page.locator('.card:has(.bar) details');
  await commands.getByText('Poll now · Pause').click();
  await expect
    .poll(() => commands.locator('code').allTextContents(), bounded)
    .toEqual([
      'explorer-etl feeds run --chain 10 --operation user-operations',
      'explorer-etl feeds pause --chain 10 --operation user-operations',
    ]);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await commands.getByRole('button', { name: /^Copy: explorer-etl feeds pause/u }).click();
  await commands.getByText('Copied').waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
    / feeds pause --chain 10 /u,
  );
  await page.evaluate(`location.hash = '#/feed/10/optimism-batches'`);
  await commands.getByText('Resume').first().waitFor();
  await expect
    .poll(() => commands.locator('code').allTextContents(), bounded)
    .toEqual(['explorer-etl feeds resume --chain 10 --operation user-operations']);
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

// A dash where status has an age.
test('batch blocks and rankings show the age of their newest row or ranking', async () => {
  const { page } = await openScene('well');
  const row = page.locator('.feeds tbody tr', { hasText: 'factories' }).first();
  await expect.poll(() => row.textContent(), bounded).toContain('5 min ago');
  await page.evaluate(`location.hash = '#/feed/10/factories'`);
  const fact = page.locator('.facts div', { hasText: 'Newest item' });
  await expect.poll(() => fact.textContent(), bounded).toContain('5 min ago');
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

// An outage that fills the list with one sentence; runs that ended well counted as failed.
test('runs that failed alike are one row, and so are equal events', async () => {
  const { page } = await openScene('outage', '/runs');
  await page.getByText('169 runs, 30 failed, 6 finished after failed requests').waitFor();
  const rows = page.locator('.runs tbody tr');
  await rows.getByText('30 since 10:53 UTC').waitFor();
  await rows.getByText('4 since 11:04 UTC').waitFor();
  expect(await rows.getByText('HTTP 503').count()).toBe(1);
  expect(await rows.getByText('lost its connection').count()).toBe(1);
  expect(await rows.first().innerText()).toMatch(
    /several\s+failed\s+unreachable: HTTP 503, [\w ]+\.$/u,
  );
  await page.evaluate(`location.hash = '#/feed/10/factories'`);
  await rows.getByText('5 since 10:53 UTC').waitFor();
});

// A run that another one replaced as one that finished, and a wait of no time.
test('only a run that finished counts as finished after failed requests', async () => {
  const { page, server } = await openScene('well', '/runs');
  const met = { failed_requests: 1, first_failure: 'connection refused', waited_s: 0.2 };
  const states = ['superseded', 'interrupted', 'open', 'finished'] as const;
  const { runs } = sceneOf('well');
  const own = runs.runs.slice(0, 4).map((run, at) => ({ ...run, ...met, state: states[at]! }));
  server.show({ runs: { ...runs, runs: own } });
  await page.reload();
  await page.getByText('4 runs, 0 failed, 1 finished after failed requests').waitFor();
  expect(await page.locator('.timeline [height="1.5"]').count()).toBe(1);
  const row = page.locator('.runs tbody tr', { hasText: 'superseded' });
  expect(await row.innerText()).toMatch(/\s1 failed request: connection refused\.$/u);
});

// A failure among thousands of runs that ended well; a link to failures that shows all.
test('runs can be chosen by their state, and the link keeps the choice', async () => {
  const { page } = await openScene('outage', '/runs');
  const states = page.getByRole('navigation', { name: 'States' });
  await states.getByText('all 169').waitFor();
  expect(await states.getByRole('link').allTextContents()).toEqual([
    'all 169',
    'failed 30',
    'finished 138',
    'interrupted 1',
  ]);
  await states.getByRole('link', { name: 'failed' }).click();
  await expect.poll(() => page.url(), bounded).toMatch(/#\/runs\?state=failed$/u);
  await page.reload();
  const rows = page.locator('.runs tbody tr');
  await rows.getByText('30 since 10:53 UTC').waitFor();
  expect(await rows.count()).toBe(1);
  expect(await page.locator('[aria-current]').last().textContent()).toBe('failed 30');
  expect(await page.locator('.timeline tbody tr').allTextContents()).not.toContain('events');
  expect(await page.locator('.timeline rect[fill="var(--good)"]').count()).toBe(0);
  await states.getByRole('link', { name: 'all' }).click();
  await rows.getByText('finished').first().waitFor();
  const young = await openScene('first-minute', '/runs?state=running');
  await young.page.locator('.runs tbody tr').nth(1).getByText('running').waitFor();
  expect(await young.page.locator('.runs').textContent()).not.toContain('open');
});

/** Labels that the charts of the page draw from now on. */
const noteLabels = `{
  const { fillText } = CanvasRenderingContext2D.prototype;
  window.labels = [];
  CanvasRenderingContext2D.prototype.fillText = function (...args) {
    labels.push(args[0]);
    fillText.apply(this, args);
  };
}`;

// Four weeks for one day, 24 hours for 40 seconds.
test('the axes of a young copy are as long as its life', async () => {
  const { page } = await openScene('one-day');
  await page.evaluate(noteLabels);
  await page.evaluate(`location.hash = '#/explore'`);
  const labels = async () =>
    (await page.evaluate<string[]>('labels')).filter((label) => /^\d+ (?:Nov|Dec)$/u.test(label));
  await expect.poll(labels, bounded).not.toEqual([]);
  expect(new Set(await labels())).toEqual(new Set(['22 Nov']));
  const young = await openScene('first-minute', '/runs');
  await young.page.getByRole('heading', { name: 'Runs, 41 s' }).waitFor();
  await young.page.evaluate(`location.hash = '#/feed/10/user-operations'`);
  await young.page.getByRole('img', { name: /^Throughput: 1 points/u }).waitFor();
});

// A fee of 24 digits that pushes the next columns out of the table.
test('amounts have six digits, and no column is out of sight', async () => {
  const viewport = { width: 1_280, height: 900 };
  const { page } = await openScene('well', '/explore/top-senders', { viewport });
  const row = page.locator('.scroll tbody tr').first();
  await row.getByText('131,283', { exact: true }).waitFor();
  await row.getByText('0.000000128349', { exact: true }).waitFor();
  expect(await row.getByText('131,283', { exact: true }).getAttribute('title')).toBe(
    '131,283.471283991204412345',
  );
  expect(await row.textContent()).toContain('0x00f39fd6e51aad88f6f4ce6ab8827279cfffb922');
  for (const width of [1_280, 400]) {
    await page.setViewportSize({ width, height: 900 });
    const hidden = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.scroll'))`;
    expect(await page.evaluate(hidden), `${width} px`).toBe(0);
  }
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

// A fee in wei, which no person can read, or one whose last digits are lost.
test('a trace has amounts in the currency of the chain, exact under a pointer', async () => {
  const { page } = await openScene('well', '/trace?term=128400112');
  const fee = page.getByText('0.000000131283 ETH', { exact: true });
  await fee.waitFor();
  expect(await fee.getAttribute('title')).toBe('0.000000131283471283');
  expect(await page.locator('.facts').first().textContent()).not.toContain('131,283,471,283');
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
