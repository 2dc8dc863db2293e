import { expect, inject, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import type { SyncRun } from '../../harness/sync.ts';
import { blockMs, hashOf, oneEach, type Page, timeOf } from '../../harness/kept.ts';
import { lyingList, pageSize, tokenOf } from './lying-list.ts';
import { inLong } from '../../harness/long-cases.ts';

/** A block takes 2 s, so a minute is 30 of them. */
const blocks = 200;

const past = '1970-01-01T00:00:00.000000Z';
const future = '2099-01-01T00:00:00.000000Z';

/** Above it are 96 operations, and it is in the middle of a page. */
const oldest = 105;
const since = timeOf(oldest);
/** Two whole pages below, of which the second is requested again. */
const honestRequests = Math.ceil((blocks - oldest + 1) / pageSize) + 3;

type Lie = (page: Page) => Page;

/** Gives some items of a page another time; places below 0 count from its end. */
const report =
  (time: string, ...places: readonly number[]): Lie =>
  ({ items, ...page }) => ({
    ...page,
    items: items.map((item, at) =>
      places.includes(at) || places.includes(at - items.length)
        ? { ...item, timestamp: time }
        : item,
    ),
  });
/** A whole page whose times are a year early, in their order. */
const aYearEarly: Lie = ({ items, ...page }) => ({
  ...page,
  items: items.map((item) => ({
    ...item,
    timestamp: new Date(Date.parse(String(item['timestamp'])) - 365 * 86_400_000).toISOString(),
  })),
});
const everyItem = Array.from({ length: pageSize }, (_, at) => at);

/** A list of which the operations since a time are wanted. */
async function bounded() {
  const scene = await lyingList(oneEach(1, blocks));
  const sync = (run: Partial<SyncRun> = {}) => scene.sync({ listSince: since, ...run });
  const expectAllWanted = async () => {
    const wanted = await scene.query(
      `select from explorer.user_operations where block_number >= ${oldest}`,
    );
    expect({ stored: wanted.length, open: await scene.open() }).toEqual({
      stored: blocks - oldest + 1,
      open: [],
    });
  };
  return { ...scene, sync, expectAllWanted };
}

test('a walk ends at since with the second whole page beyond it, which is requested again', async () => {
  const { sync, expectAllWanted } = await bounded();

  expect(await sync()).toBe(honestRequests);

  await expectAllWanted();
  // What is known costs the head and the overlap.
  expect(await sync()).toBe(2);
});

test('no empty page ends a walk at since, whatever it is behind', async () => {
  const { list, sync, expectAllWanted } = await bounded();
  list.lieOnce(3, report(past, ...everyItem));
  // The page below it, and when it is requested again.
  let empty = 2;
  list.lie = (page, { cursor }) =>
    cursor === tokenOf(170) && empty-- > 0 ? { ...page, items: [] } : null;

  await sync();
  // The walk that met it covers less than it read.
  await sync();

  await expectAllWanted();
});

test.each<[string, Lie, number, number]>([
  ['the last item of a page', report(past, -1), 5, 0],
  ['a whole page', report(past, ...everyItem), 5, 0],
  ['the whole first page, whose times go on a year early,', aYearEarly, 1, 0],
  ['the newest item, which reports the future,', report(future, 0), 1, 0],
  // The page on which the walk would end: the next ones are to be older too.
  ['the lowest page', report(future, ...everyItem), honestRequests - 1, 2],
  ...inLong<[string, Lie, number, number]>(
    ['two neighbours at the end of a page', report(past, -2, -1), 5, 0],
    ['the whole first page', report(past, ...everyItem), 1, 0],
  ),
])('%s with a wrong time ends no walk at since', async (_, lie, nth, more) => {
  const { list, sync, expectAllWanted } = await bounded();
  list.lieOnce(nth, lie);

  const requests = await sync();

  expect(requests).toBeGreaterThanOrEqual(honestRequests);
  expect(requests).toBeLessThanOrEqual(honestRequests + more);
  await expectAllWanted();
});

test.each([
  ['report the past', report(past, ...everyItem)],
  ['go on a year early', aYearEarly],
])('two pages in a row that %s end no walk at since', async (_, lie) => {
  const { list, sync, expectAllWanted } = await bounded();
  list.lieOnce(5, lie);
  list.lieOnce(6, lie);

  await sync();

  await expectAllWanted();
});

test.runIf(inject('isLong'))(
  'a walk that is interrupted after each page ends at since like others',
  async () => {
    const { list, sync, query, expectAllWanted } = await bounded();
    for (let page = 0; page < 2 * honestRequests; page += 1) {
      const interrupt = new AbortController();
      list.lieOnce(1, (answer) => {
        interrupt.abort();
        return answer;
      });
      await sync({ signal: interrupt.signal });
    }

    await sync();

    await expectAllWanted();
    const below = await query(
      `select from explorer.user_operations where block_number < ${oldest - 3 * pageSize}`,
    );
    expect(below).toEqual([]);
  },
);

test('a walk that is killed between two pages whose times are all wrong does not end there', async () => {
  const { list, sync, expectAllWanted } = await bounded();
  const interrupt = new AbortController();
  list.lieOnce(8, (page) => {
    interrupt.abort();
    return report(past, ...everyItem)(page);
  });
  await sync({ signal: interrupt.signal });
  list.lieOnce(1, report(past, ...everyItem));

  await sync();

  await expectAllWanted();
});

test('a wrong time right above a gap hides no gap', async () => {
  const { list, sync, open, expectAllWanted } = await bounded();
  list.lieOnce(5, report(past, -1));
  await sync({ maxPages: 5 });
  expect(await open()).not.toEqual([]);

  const requests = await sync();

  // The gap is entered at the item above it, and the head is looked at.
  expect(requests).toBeLessThanOrEqual(honestRequests - 5 + 2 + 2);
  await expectAllWanted();
});

test('a walk that ended at since by a time that rows no longer confirm leaves a gap, which is read', async () => {
  const { sync, open, query, expectAllWanted } = await bounded();
  await sync({ maxPages: 5 });
  await query(
    `update etl.walks set reason = 'since', scope = jsonb_build_object('since', '${since}')`,
  );
  expect(await open()).not.toEqual([]);

  await sync();

  await expectAllWanted();
});

/** What the head costs where the overlap, or a deep poll, of four minutes is twelve pages. */
const deep = 4 * 60_000;
const deepRequests = deep / blockMs / pageSize + 1;

const wrongHeads: readonly (readonly [string, Lie])[] = [
  ['the newest item reports the past', report(past, 0)],
  ['the newest item reports the future', report(future, 0)],
  ['the fifth newest reports the past', report(past, 4)],
  ['two neighbours report the past', report(past, 3, 4)],
  ['the newest page reports the future', report(future, ...everyItem)],
];
const overlap: Partial<SyncRun> = { overlapMs: deep, resweep: [] };
/** Four pages: most of the 128 items below are older. */
const shortOverlap: Partial<SyncRun> = { overlapMs: 80_000, resweep: [] };
const deepPoll: Partial<SyncRun> = {
  overlapMs: 10_000,
  resweep: [{ depthMs: deep, everyMs: 60_000 }],
};

test.each([
  ...wrongHeads.slice(0, 3).map(([what, lie]) => ['the overlap', what, lie, overlap] as const),
  [
    'a short overlap',
    'the newest page reports the past',
    report(past, ...everyItem),
    shortOverlap,
  ] as const,
  ...inLong(
    ...wrongHeads.slice(3).map(([what, lie]) => ['the overlap', what, lie, overlap] as const),
  ),
  ...wrongHeads.slice(1, 2).map(([what, lie]) => ['a deep poll', what, lie, deepPoll] as const),
  ...inLong(
    ...wrongHeads.slice(2, 3).map(([what, lie]) => ['a deep poll', what, lie, deepPoll] as const),
  ),
])('%s is as deep as usual if %s', async (_how, _what, lie, run) => {
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 2) + minute * 60_000);
  const { list, sync, query } = await lyingList(oneEach(1, blocks));
  list.lieOnce(1, lie);
  await sync({ ...run, at: at(0) });
  // 60 s behind the head.
  list.operations.push({ block: blocks - 30, id: 9_000 });

  const requests = await sync({ ...run, at: at(2) });

  expect(
    await query(`select from explorer.user_operations where hash = '${hashOf(9_000)}'`),
  ).toHaveLength(1);
  expect(requests).toBeLessThanOrEqual(deepRequests + 1);
});

test('a depth in time ends at the tenth item that newer ones below contradict', async () => {
  const { pool, query } = await freshDatabase();
  const [top, wanted] = [3_000, 2_500];
  // A block a second; each hundredth reports the newest time.
  await pool.query(
    `insert into explorer.user_operations (chain_id, hash, block_number, timestamp, page_id)
     select 10, block::text, block,
            timestamptz '2026-01-01Z' + make_interval(secs => case when block % 100 = 0 then $1::int else block end), 1
     from generate_series(1, $1::int) as block`,
    [top],
  );

  const [{ height }] = await query(
    `select etl.older_item(10, 'user-operations', $1, timestamptz '2026-01-01Z' + make_interval(secs => $2))::int as height`,
    [top, wanted],
  );

  // The first is right below the wanted time, and each next one below a wrong time.
  expect(height).toBe(wanted - 1 - 9 * 100);
});
