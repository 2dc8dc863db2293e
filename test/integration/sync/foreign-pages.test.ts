import { expect, test } from 'vitest';
import { hashOf } from '../../harness/listed-operations.ts';
import { lyingList, oneEach, pageSize } from './lying-list.ts';

const pages = 20;
const rows = pages * pageSize;
/** The sixth page from the head begins with this block. */
const falsePage = 6;
const named = rows - (falsePage - 1) * pageSize;
const tokenOf = (block: number) => `${block},${hashOf(block)}`;

/** A page that lacks the operation that its cursor names is requested once more. */
const onceMore = 1;
/** The list's true end is requested once more where nothing supports it. */
const forTheEnd = 1;
/** A gap of a page that is entered above it. */
const forTheGap = 2;

type World = Awaited<ReturnType<typeof lyingList>>;

/** Other operations at the blocks of a page: those of another chain. */
const foreign: World['service']['lie'] = (page) => ({
  ...page,
  items: page.items.map((item) => ({
    ...item,
    hash: hashOf(7_000_000 + Number(item['block_number'])),
  })),
});

const foreignAt =
  (block: number): World['service']['lie'] =>
  (page, token) =>
    token === tokenOf(block) ? foreign(page, token) : null;

const untrue = (world: World) =>
  world.query(
    `select from explorer.user_operations
     where removed_at is null and hash >= '${hashOf(7_000_000)}'`,
  );

test('one page of another chain costs one request, and nothing of it is stored', async () => {
  const world = await lyingList(oneEach(1, rows));
  world.service.lieOnce(falsePage, (page) => foreign(page, null));

  const requests = await world.sync();

  expect({ open: await world.open(), lost: await world.lost() }).toEqual({ open: [], lost: 0 });
  expect(await untrue(world)).toEqual([]);
  expect(requests).toBe(pages + onceMore + forTheEnd);
});

test('a page of another chain that is repeated earns no coverage, and is all read later', async () => {
  const world = await lyingList(oneEach(1, rows));
  world.service.lie = foreignAt(named);

  const requests = await world.sync();

  // The same sync reads the gap again, from above it, and what is left of it: two walks skip the rows that
  // are of the other chain.
  expect({ covered: await world.covered(), lost: await world.lost() }).toEqual({
    covered: [`0 to ${rows - 2}`],
    lost: 0,
  });
  expect(requests).toBe(pages + onceMore + forTheEnd + 2 * forTheGap);
  expect((await world.open()).join()).toContain('unordered');
  await world.sync();
  expect({ open: await world.open(), lost: await world.lost() }).toEqual({ open: [], lost: 0 });
  expect(await untrue(world)).toEqual([]);
});

test('a service that has another chain below a place earns no coverage there, however it is entered', async () => {
  const world = await lyingList(oneEach(1, rows));
  await world.sync({ maxPages: falsePage });
  const [before] = await world.covered();
  // The gap is entered at a stored operation above it: that page is of the other chain, too.
  world.service.lie = (page, token) =>
    Number(token?.split(',')[0]) < rows - falsePage * pageSize + 5 ? foreign(page, token) : null;

  await world.sync();

  expect(await world.covered()).toEqual([before]);
  expect((await world.open()).join()).toContain('blocks 0 to 141: not downloaded');
  world.service.lie = () => null;
  // Many stored rows at once are skipped: two walks have to, before they count as removed.
  await world.sync();
  await world.sync();
  expect({ open: await world.open(), lost: await world.lost() }).toEqual({ open: [], lost: 0 });
  expect(await untrue(world)).toEqual([]);
});

test('a service that goes on in another chain, with its own cursors, earns no coverage there', async () => {
  const world = await lyingList(oneEach(1, rows));
  const isForeign = (token: string | null) => Number(token?.split(',')[0]) <= named;
  world.service.lie = (page, token) => {
    if (!isForeign(token)) return null;
    const next = page.next_page_params?.['page_token'];
    const block = Number(String(next).split(',')[0]);
    const page_token = `${block},${hashOf(7_000_000 + block)}`;
    const next_page_params = next === undefined ? null : { page_size: pageSize, page_token };
    return { ...(foreign(page, token) as object), next_page_params };
  };

  await world.sync();

  const [covered] = await world.covered();
  expect(Number(covered?.split(' ')[0])).toBeGreaterThan(named);
  expect((await world.open()).join()).toContain('not downloaded');
  world.service.lie = () => null;
  for (let rounds = 0; rounds < 3; rounds += 1) await world.sync();
  expect({ open: await world.open(), lost: await world.lost() }).toEqual({ open: [], lost: 0 });
  expect(await untrue(world)).toEqual([]);
});

test('rows of another chain below the end of the list do not contradict it', async () => {
  const world = await lyingList(oneEach(50, rows));
  const all = world.list.operations;
  // Another chain goes on for more than a page below the lowest block of this one.
  world.list.operations = oneEach(1, rows);
  world.service.lie = (page, token) =>
    Number(token?.split(',')[0]) <= named ? foreign(page, token) : null;
  await world.sync();
  world.list.operations = all;
  world.service.lie = () => null;

  for (let rounds = 0; rounds < 3; rounds += 1) await world.sync();

  expect({ open: await world.open(), lost: await world.lost() }).toEqual({ open: [], lost: 0 });
});

test('where the named operation has just left, the next sync finds nothing missing', async () => {
  const world = await lyingList(oneEach(1, rows));
  world.list.onRequest = (token) => {
    if (token === tokenOf(named)) {
      world.list.operations = world.list.operations.filter(({ block }) => block !== named);
    }
    return null;
  };

  const requests = await world.sync();
  await world.sync();

  expect({ open: await world.open(), lost: await world.lost() }).toEqual({ open: [], lost: 0 });
  // The page once more, and two pages around it that are read again.
  expect(requests).toBeLessThanOrEqual(pages + onceMore + forTheEnd + 2);
});

test('where the named operation has left known history, its page is requested once more', async () => {
  const world = await lyingList(oneEach(1, rows));
  await world.sync();
  world.list.onRequest = (token) => {
    if (token === tokenOf(named)) {
      world.list.operations = world.list.operations.filter(({ block }) => block !== named);
    }
    return null;
  };

  const requests = await world.sync({ again: true });

  expect({ open: await world.open(), lost: await world.lost() }).toEqual({ open: [], lost: 0 });
  expect(requests).toBe(pages + onceMore);
});
