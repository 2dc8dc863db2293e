import { expect, test } from 'vitest';
import type { ServedPage } from '../../harness/explorer.ts';
import type { SyncRun } from '../../harness/sync.ts';
import { hashOf } from '../../harness/listed-operations.ts';
import { lyingList, oneEach, pageSize } from './lying-list.ts';

/** A block takes 2 s, so a minute is 30 of them. */
const blocks = 400;
const genesisMs = Date.UTC(2026, 0, 1);
const timeOf = (block: number) => new Date(genesisMs + block * 2_000).toISOString();

const past = '1970-01-01T00:00:00.000000Z';
const future = '2099-01-01T00:00:00.000000Z';

/** Above it are 300 operations, in the middle of a page. */
const oldest = 105;
const since = timeOf(oldest);
const honestRequests = Math.ceil((blocks - oldest + 1) / pageSize);

/** Gives some items of a page another time; places below 0 count from its end. */
const report =
  (time: string, ...places: readonly number[]) =>
  ({ items, next_page_params }: ServedPage) => ({
    items: items.map((item, at) =>
      places.includes(at) || places.includes(at - items.length)
        ? { ...item, timestamp: time }
        : item,
    ),
    next_page_params,
  });
/** A whole page whose times are a year early, in their order. */
const aYearEarly = ({ items, next_page_params }: ServedPage) => ({
  items: items.map((item) => ({
    ...item,
    timestamp: new Date(Date.parse(String(item['timestamp'])) - 365 * 86_400_000).toISOString(),
  })),
  next_page_params,
});
const everyItem = Array.from({ length: pageSize }, (_, at) => at);

async function bounded() {
  const scene = await lyingList(oneEach(1, blocks));
  const sync = (run: Partial<SyncRun> = {}) => scene.sync({ listSince: since, ...run });
  /** How many of the wanted operations are not stored. */
  const missing = async () => {
    const [row] = await scene.query(
      `select count(*)::int as stored from explorer.user_operations where block_number >= ${oldest}`,
    );
    return blocks - oldest + 1 - Number(row?.stored);
  };
  return { ...scene, sync, missing };
}

test('a walk ends at since with the page that goes beyond it', async () => {
  const { sync, missing, open } = await bounded();

  const requests = await sync();

  expect(requests).toBe(honestRequests);
  expect({ missing: await missing(), open: await open() }).toEqual({ missing: 0, open: [] });
  // What is known costs the head and the overlap.
  expect(await sync()).toBe(2);
});

test.each([
  ['the last item of a page', report(past, -1), 5],
  ['two neighbours at the end of a page', report(past, -2, -1), 5],
  ['two neighbours at the end of the first page', report(past, -2, -1), 1],
  ['a whole page', report(past, ...everyItem), 5],
  ['the whole first page', report(past, ...everyItem), 1],
  ['the whole first page, whose times go on a year early,', aYearEarly, 1],
  ['two neighbours that report the future', report(future, -2, -1), 5],
  ['the newest item, which reports the future,', report(future, 0), 1],
])('%s with a wrong time ends no walk at since', async (_, lie, nth) => {
  const { service, sync, missing, open } = await bounded();
  service.lieOnce(nth, lie);

  const requests = await sync();

  expect(requests).toBe(honestRequests);
  expect({ missing: await missing(), open: await open() }).toEqual({ missing: 0, open: [] });
});

test('wrong times of the page on which a walk would end cost two requests more at most', async () => {
  const { service, sync, missing, open } = await bounded();
  service.lieOnce(honestRequests, report(future, ...everyItem));

  const requests = await sync();

  expect(requests).toBeLessThanOrEqual(honestRequests + 2);
  expect({ missing: await missing(), open: await open() }).toEqual({ missing: 0, open: [] });
});

test('a walk that goes on after a kill is held against what is stored above it', async () => {
  const { list, service, sync, missing, open } = await bounded();
  const interrupt = new AbortController();
  service.lieOnce(8, (page) => {
    interrupt.abort();
    return page;
  });
  await sync({ signal: interrupt.signal });
  const left = blocks - 8 * pageSize;
  list.operations = list.operations.map((operation) =>
    operation.block <= left && operation.block > left - pageSize
      ? { ...operation, time: past }
      : operation,
  );

  await sync();

  expect({ missing: await missing(), open: await open() }).toEqual({ missing: 0, open: [] });
});

test('a wrong time right above a gap hides no gap', async () => {
  const { service, sync, missing, open } = await bounded();
  service.lieOnce(5, report(past, -1));
  await sync({ maxPages: 5 });
  expect(await open()).not.toEqual([]);

  const requests = await sync();

  // The gap is entered at the item above it, and the head is looked at.
  expect(requests).toBeLessThanOrEqual(honestRequests - 5 + 2 + 2);
  expect({ missing: await missing(), open: await open() }).toEqual({ missing: 0, open: [] });
});

test('a stop that what is stored no longer confirms is none: the gap below it is read', async () => {
  const { sync, missing, open, query } = await bounded();
  await sync({ maxPages: 5 });
  await query(
    `update etl.walks set reason = 'since', scope = jsonb_build_object('since', '${since}')`,
  );
  expect(await open()).not.toEqual([]);

  await sync();

  expect({ missing: await missing(), open: await open() }).toEqual({ missing: 0, open: [] });
});

/** What the head costs where the overlap, or a deep poll, of four minutes is twelve pages. */
const deep = 4 * 60_000;
const deepRequests = deep / 2_000 / pageSize + 1;

const wrongHeads = [
  ['the newest item reports the past', report(past, 0)],
  ['the newest item reports the future', report(future, 0)],
  ['the highest covered item reports the future', report(future, 1)],
  ['the fifth newest reports the past', report(past, 4)],
  ['two neighbours report the past', report(past, 3, 4)],
  ['two neighbours report the future', report(future, 0, 1)],
  ['the newest page reports the past', report(past, ...everyItem)],
  ['the newest page reports the future', report(future, ...everyItem)],
] as const;

const startMs = Date.UTC(2026, 0, 2);
const minute = (count: number) => new Date(startMs + count * 60_000);

/** Reads a list of which a lie is told once; then an operation appears, 60 s behind the head. */
async function lateBehind(lie: (page: ServedPage) => unknown, run: Partial<SyncRun>) {
  const { list, service, sync, query } = await lyingList(oneEach(1, blocks));
  service.lieOnce(1, lie);
  await sync({ ...run, at: minute(0) });
  list.operations.push({ block: blocks - 30, id: 9_000 });
  const requests = await sync({ ...run, at: minute(2) });
  const found = await query(`select from explorer.user_operations where hash = '${hashOf(9_000)}'`);
  return { requests, found: found.length };
}

test.each(wrongHeads)('where %s, the overlap is as deep as ever', async (_, lie) => {
  const { requests, found } = await lateBehind(lie, { overlapMs: deep, resweep: [] });

  expect(found).toBe(1);
  expect(requests).toBeGreaterThanOrEqual(deepRequests - 1);
  expect(requests).toBeLessThanOrEqual(deepRequests + 1);
});

test.each(wrongHeads.slice(2, 5))('where %s, a deep poll is as deep as ever', async (_, lie) => {
  const resweep = [{ depthMs: deep, everyMs: 60_000 }];

  const { requests, found } = await lateBehind(lie, { overlapMs: 10_000, resweep });

  expect(found).toBe(1);
  expect(requests).toBeLessThanOrEqual(deepRequests + 1);
});
