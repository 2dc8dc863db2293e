import { expect, inject, test } from 'vitest';
import {
  hashOf,
  honestly,
  oneEach,
  type Page,
  type PageLie,
  range,
  timeOf,
} from '../../harness/kept.ts';
import { copiedList, forTheEnd, lyingList, pages, pageSize, tokenOf } from './lying-list.ts';

const rows = pages * pageSize;
/** The sixth page from the head begins with this block. */
const falsePage = 6;
const named = rows - (falsePage - 1) * pageSize;

/** A page that lacks the operation that its cursor names is requested once more. */
const onceMore = 1;
/** A gap of a page that is entered above it. */
const forTheGap = 2;

type World = Awaited<ReturnType<typeof lyingList>>;

const foreignHash = (block: unknown) => hashOf(7_000_000 + Number(block));

/** Other operations at the blocks of a page: those of another chain. */
const foreign = (page: Page) => ({
  ...page,
  items: page.items.map((item) => ({ ...item, hash: foreignHash(item['block_number']) })),
});

/** A page of another chain from a block on down. */
const foreignFrom =
  (block: number): PageLie =>
  (page, { cursor }) =>
    Number(cursor?.split(',')[0]) <= block ? foreign(page) : null;

/** The same, whose cursors are of the other chain too. */
const foreignWithCursors: PageLie = (page, request) => {
  const served = foreignFrom(named)(page, request);
  const next = page.next_page_params?.['page_token'];
  if (served === null || typeof next !== 'string') return served;
  const [block] = next.split(',');
  const page_token = `${block},${foreignHash(block)}`;
  return { ...foreign(page), next_page_params: { page_size: pageSize, page_token } };
};

const expectNothingForeign = async ({ query }: World) =>
  expect(
    await query(`
      select from explorer.user_operations
      where removed_at is null and hash >= '${foreignHash(0)}'`),
  ).toEqual([]);

const oneTooLow = (page: Page) => ({
  ...page,
  items: page.items.map((item) => ({
    ...item,
    block_number: String(Number(item['block_number']) - 1),
  })),
});

test.each<[string, PageLie]>([
  ['of another chain', foreign],
  [
    'of another chain, with an item without a hash,',
    (page) => ({ ...page, items: foreign(page).items.with(4, { ...page.items[4], hash: '0x' }) }),
  ],
  [
    'of another chain, with the item that its cursor names without a hash,',
    (page) => ({ ...page, items: foreign(page).items.with(0, { ...page.items[0], hash: '0x' }) }),
  ],
  ['whose numbers are one too low', oneTooLow],
])('one page %s costs one request, and nothing of it is stored', async (_, lie) => {
  const world = await lyingList();
  world.list.lieOnce(falsePage, lie);

  const requests = await world.sync();

  await world.expectComplete();
  await expectNothingForeign(world);
  expect(requests).toBe(pages + onceMore + forTheEnd);
});

test('of a page that is another one each time it is requested, no row changes its block', async () => {
  const { list, sync, lost, expectComplete } = await copiedList();
  let answers = 0;
  list.lie = (page, { cursor }) => {
    if (cursor !== tokenOf(named)) return null;
    answers += 1;
    return answers % 3 === 1
      ? oneTooLow(page)
      : { items: page.items.slice(0, 5), next_page_params: null };
  };

  await sync({ again: true });

  expect(await lost()).toBe(0);
  list.lie = honestly;
  await sync({ again: true });
  await expectComplete();
});

test.runIf(inject('isLong'))(
  'one page of another chain at a synthetic cursor hides nothing',
  async () => {
    const blocks = 1_300;
    // Five of one block, so that the walk above does not read down to the end of that page.
    const tied = range(1, 5).map((nth) => ({ block: 1_200, id: 10_000 + nth }));
    const { list, sync, expectComplete } = await lyingList([...oneEach(1, blocks), ...tied]);
    list.latencyMs = 20;
    let lies = 0;
    list.lie = (page, { cursor }) => {
      const isSynthetic = cursor?.endsWith('ffff') === true && page.items.length > 0;
      return isSynthetic && lies++ === 0 ? foreign(page) : null;
    };
    await sync({ parallel: 4 });
    expect(lies).toBeGreaterThan(0);

    await sync();

    await expectComplete();
  },
);

test.runIf(inject('isLong'))(
  'one page of another chain where a range of a command is entered hides nothing',
  async () => {
    const tied = range(1, 7).map((nth) => ({ block: 300, id: 10_000 + nth }));
    const { list, sync, expectComplete } = await lyingList([...oneEach(1, 500), ...tied]);
    await sync({ maxPages: 3 });
    let lies = 0;
    list.lie = (page, { cursor }) =>
      cursor?.endsWith('ffff') === true && lies++ === 0 ? foreign(page) : null;
    await sync({ fromBlock: 100, toBlock: 200 });
    expect(lies).toBeGreaterThan(0);

    for (let round = 0; round < 2; round += 1) await sync();

    await expectComplete();
  },
);

test('a range that begins with another page each time is read from above it, and its walk says why', async () => {
  const { list, sync, open, query } = await lyingList();
  await sync({ maxPages: 3 });
  let times = 0;
  list.lie = (page, { cursor }) =>
    cursor?.endsWith('ffff') === true ? { ...page, items: page.items.slice((times += 1)) } : null;

  await sync({ fromBlock: 10, toBlock: 20 });

  const why = await query(`select reason from etl.walks where failure = 'truncated'`);
  expect(JSON.stringify(why)).toContain('its page is another one each time it is requested');
  expect(await open()).toEqual([]);
});

test('a page of another chain that is repeated verifies nothing, and its range is read later', async () => {
  const world = await lyingList();
  world.list.lie = (page, { cursor }) => (cursor === tokenOf(named) ? foreign(page) : null);

  const requests = await world.sync();

  // The same sync reads the gap again, from above it.
  expect(await world.covered()).toEqual([`0 to ${rows - 2}`]);
  expect(await world.lost()).toBe(0);
  expect(requests).toBe(pages + onceMore + forTheEnd + forTheGap);
  expect((await world.open()).join()).toContain('unordered');
  await world.sync();
  await world.expectComplete();
  await expectNothingForeign(world);
});

test.each([
  // The gap is entered at a stored operation above it: that page is of the other chain, too.
  ['returns another chain below a block', foreignFrom(rows - falsePage * pageSize + 4)],
  ['continues in another chain, with its own cursors,', foreignWithCursors],
])('a service that %s verifies nothing there, whatever cursor is used', async (_, lie) => {
  const world = await lyingList();
  await world.sync({ maxPages: falsePage });
  const before = await world.covered();
  world.list.lie = lie;

  await world.sync();

  expect(await world.covered()).toEqual(before);
  expect((await world.open()).join()).toContain('blocks 0 to 141: not downloaded');
  world.list.lie = honestly;
  // Many stored rows at once are skipped: two walks have to, before they count as removed.
  for (let rounds = 0; rounds < 3; rounds += 1) await world.sync();
  await world.expectComplete();
  await expectNothingForeign(world);
});

test('rows of another chain below the end of the list do not contradict it', async () => {
  const { list, sync, expectComplete } = await lyingList();
  // Another chain goes on for more than a page below the lowest block of this one.
  list.lie = foreignFrom(named);
  await sync();
  list.operations = oneEach(50, rows);
  list.lie = honestly;

  for (let rounds = 0; rounds < 3; rounds += 1) await sync();

  await expectComplete();
});

test.each([
  // And two pages around it that are read again.
  ['while it is read for the first time', false, forTheEnd + 2],
  ['while it is read again', true, 0],
])('an operation that just left history %s costs its page once more', async (_, again, more) => {
  const { list, sync, expectComplete } = await lyingList();
  if (again) await sync();
  list.onRequest = ({ cursor }) => {
    if (cursor === tokenOf(named)) {
      list.operations = list.operations.filter(({ block }) => block !== named);
    }
  };

  const requests = await sync({ again });

  if (!again) await sync();
  await expectComplete();
  expect(requests).toBeLessThanOrEqual(pages + onceMore + more);
});

/** What is covered, and not stored as this chain has it. */
const coveredOnly = `
  select block::int from generate_series(1, 200) as block
  join explorer.coverage on block between from_block and to_block
  where not exists (
    select from explorer.user_operations
    where block_number = block and removed_at is null and hash < '${hashOf(7_000_000)}'
  )`;

test.each<[string, (nth: number) => number | null]>([
  ['each time of another chain', (nth) => 7_000_000 + 1_000 * nth],
  ['of another chain each second time', (nth) => (nth % 2 === 0 ? 7_000_000 : null)],
])('a page at since that is %s covers nothing', async (_, chainOf) => {
  const { list, sync, query } = await lyingList(oneEach(1, 200));
  let nth = 0;
  list.lie = (page, { cursor }) => {
    if (cursor !== tokenOf(90)) return null;
    nth += 1;
    const chain = chainOf(nth);
    if (chain === null) return null;
    const hash = (block: unknown) => hashOf(chain + Number(block));
    const items = page.items.map((item) => ({ ...item, hash: hash(item['block_number']) }));
    return { ...page, items };
  };
  await sync({ listSince: timeOf(105) });
  list.lie = honestly;

  for (let round = 0; round < 3; round += 1) await sync({ listSince: timeOf(105) });

  expect(await query(coveredOnly)).toEqual([]);
});
