import { expect, test } from 'vitest';
import { recountCoverage } from '../../../src/status/verify.ts';
import { oneEach } from '../../harness/kept.ts';
import { openCopy, plainChain } from '../../harness/sync.ts';
import { copiedList, forTheEnd, lyingList, pages, pageSize } from './lying-list.ts';

test('a whole list leaves one covered range and no gap', async () => {
  const { sync, covered, expectComplete } = await lyingList();

  expect(await sync()).toBe(pages + forTheEnd);

  expect(await covered()).toEqual([`0 to ${pages * pageSize - 2}`]);
  await expectComplete();
});

test('a list that is covered is kept current with one page when nothing is new', async () => {
  const { sync, expectComplete } = await copiedList();

  expect(await sync({ overlapMs: 0 })).toBe(1);

  await expectComplete();
});

test.each([
  ['ahead', 60],
  ['behind', -60],
])(
  'a clock that is an hour %s neither holds coverage back nor makes polls longer',
  async (_, minutes) => {
    const motion = {
      operationsPerMinute: 60,
      latePercent: 0,
      latestLateMs: 0,
      orphanedPercent: 0,
      reincludedPercent: 0,
    };
    const chain = { ...plainChain, userOperations: 120, motion };
    const run = { operations: ['user-operations'], pageSize: 20, resweep: [] };
    const { syncAt, query } = await openCopy(chain, { run });
    await syncAt(0);
    const polls = [];
    for (const poll of [1, 2, 3, 4]) {
      // Of two machines in turn.
      const at = new Date(Date.now() + (poll % 2) * minutes * 60_000);
      const { requests } = await syncAt(poll * 60_000, { at });
      const [feed] = await query('select covered_to::int as block from explorer.freshness');
      polls.push({ requests, block: Number(feed?.block) });
    }
    const [first, ...later] = polls;
    for (const [index, { requests, block }] of later.entries()) {
      expect(requests).toBeLessThanOrEqual((first?.requests ?? 0) + 1);
      expect(block).toBeGreaterThan(polls[index]?.block ?? 0);
    }
  },
);

test.each([
  ['history with a page limit is continued where it ended, and only there', 8],
  // Ten operations in 20 s: less than the overlap of 30 s.
  ['history is read once, although the overlap reaches below the covered range', 1],
])('%s', async (_, read) => {
  const { sync, gaps, expectComplete } = await lyingList();
  expect(await sync({ maxPages: read })).toBe(read);
  expect(await gaps()).toHaveLength(1);

  const requests = await sync();

  expect(requests).toBeLessThanOrEqual(pages - read + 2 + 2 + forTheEnd);
  await expectComplete();
});

test('a gap is reported exactly, and closed with its own pages and at most two more', async () => {
  const { database, sync, query, gaps, expectComplete } = await copiedList({ maxPages: 7 });
  await sync({ maxPages: 6 });
  await sync();
  const [lost] = await query(`
    select id, top, bottom, pages from etl.walks
    where lane = 'backfill' order by id offset 1 limit 1`);
  await query('delete from etl.pages where walk_id = ' + lost.id);
  await query('delete from etl.walks where id = ' + lost.id);
  await recountCoverage(database.db);
  const left = await query(`
    delete from explorer.user_operations where block_number > ${lost.bottom} and block_number < ${lost.top}
    returning hash`);
  expect(left.length).toBeGreaterThan(20);
  const [gap, ...others] = await gaps();
  expect(others).toEqual([]);
  expect(gap.from_block).toBeGreaterThanOrEqual(Number(lost.bottom));
  expect(gap.to_block).toBeLessThanOrEqual(Number(lost.top));

  const requests = await sync({ overlapMs: 0 });

  expect(requests).toBeLessThanOrEqual(Number(lost.pages) + 2 + 1);
  await expectComplete();
});

test('a page within one block leaves all below it open', async () => {
  const within = Array.from({ length: 30 }, (_, index) => ({ block: 101, id: 500 + index }));
  const { sync, open, gaps } = await lyingList([...oneEach(1, 100), ...within]);

  await sync({ maxPages: 1 });

  expect(await gaps()).toEqual([{ from_block: 0, to_block: 100 }]);
  expect(await open()).toEqual(['blocks 0 to 100: not downloaded']);
});

test('a sync that resumes an older live walk polls the head again, and reads nothing twice', async () => {
  const { list, sync, query, expectComplete } = await copiedList({}, oneEach(1, 100));
  list.operations.push(...oneEach(101, 400));
  const stop = new AbortController();
  let begun = 0;
  list.onRequest = () => {
    begun += 1;
    if (begun === 12) stop.abort();
  };
  const first = await sync({ signal: stop.signal });
  expect(
    await query(`select from etl.walks where state = 'running' and lane = 'live' and pages >= 3`),
  ).toHaveLength(1);
  list.operations.push(...oneEach(401, 440));

  const requests = await sync();

  await expectComplete();
  expect(first + requests).toBeLessThanOrEqual(34 + 12 + forTheEnd);
});

test('a gap is closed although the item of the nearest stored cursor above it has left the list', async () => {
  const { list, sync, gaps } = await lyingList([
    ...oneEach(170, 200),
    ...Array.from({ length: 9 }, (_, index) => ({ block: 161, id: 1_000 + index })),
    ...oneEach(61, 160),
  ]);
  // The fourth page begins with block 170 and ends in 161, so all from there down is unverified.
  await sync({ maxPages: 4 });
  list.operations = list.operations.filter(({ block }) => block !== 170);

  await sync();

  expect(await gaps()).toEqual([]);
});
