import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { transact, type Transaction } from '../../../src/db/transaction.ts';
import type { FeedLane } from '../../../src/lists/feed.ts';
import { operations } from '../../../src/lists/registry.ts';
import type { WalkRow } from '../../../src/lists/tables.ts';
import { arrivingWalk, handOff, beginHandOff } from '../../../src/sync/checkpoint.ts';
import { judgeOrder } from '../../../src/sync/order.ts';
import { normalisePage, type PageFacts } from '../../../src/sync/page.ts';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { freshDatabase, untilLocked } from '../../harness/database.ts';
import { answered } from '../../harness/explorer.ts';
import { hashOf, keepLists, oneEach } from '../../harness/kept.ts';
import { inWords } from '../../harness/ledger.ts';
import { beginRun, claim, openContender, walkOn } from '../../harness/runner.ts';
import { plainChain } from '../../harness/sync.ts';
import { openRun } from '../../harness/runs.ts';

const lane: FeedLane = { chain_id: 10, operation: 'user-operations', lane: 'backfill' };

/** A run with walks as a test says, and how far down each is to go. */
async function openScene() {
  const list = await keepLists();
  const database = await freshDatabase();
  const { db } = await openContender(database, { url: list.url, chains: [plainChain] });
  const run = await openRun(db, lane, {});
  const walk = async (scope: object, pages: number, top: number | null, rest = {}) => {
    const said = { state: 'running', reason: null, ...rest };
    const rows = await database.query(
      `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, pages, top, state, reason)
       values (10, 'user-operations', 'backfill', $1, 'newest-first', $2, $3, $4, $5, $6)
       returning to_jsonb(walks) as walk`,
      [run?.id, scope, pages, top, said.state, said.reason],
    );
    return (rows[0] as { walk: WalkRow }).walk;
  };
  const floorOf = async ({ id }: WalkRow) =>
    (await database.query('select floor::int from etl.walks where id = $1', [id]))[0].floor;
  const arrive = async (arriving: WalkRow, meanwhile?: (tx: Transaction) => Promise<void>) => {
    const handOver = arrivingWalk(arriving);
    if (handOver === null) throw new Error('it takes over nothing');
    await transact(db, async (tx) => {
      await beginHandOff(tx, handOver);
      await meanwhile?.(tx);
    });
    return floorOf(arriving);
  };
  return { walk, arrive, floorOf, db, pool: database.pool };
}

const at = (height: number, remainder_of: number) => ({
  entry: { height, key: '0x' },
  remainder_of,
});

test('a walk ends where the walks below it were handed off meanwhile', async () => {
  const { walk, arrive } = await openScene();
  const { id } = await walk({}, 1, 1000);
  await walk(at(300, id), 4, 290);
  await walk(at(500, id), 4, 490, { state: 'finished', reason: 'floor' });
  await walk(at(800, id), 4, 790);

  expect(await arrive(await walk(at(600, id), 0, null))).toBe(490);
});

test.each([
  ['has not been handed off', 0, {}],
  ['met another page than it requested', 1, { state: 'finished', reason: 'misplaced-entry' }],
  ['met nothing', 1, { state: 'finished', reason: 'empty-entry' }],
])('a walk does not rely on one below it that %s', async (_, pages, rest) => {
  const { walk, arrive } = await openScene();
  const { id } = await walk({}, 1, 1000);
  await walk(at(300, id), pages, pages === 0 ? null : 290, rest);

  expect(await arrive(await walk(at(600, id), 0, null))).toBe(null);
});

test('a walk does not rely on one that reads part of another remainder', async () => {
  const { walk, arrive } = await openScene();
  const { id } = await walk({}, 1, 1000);
  const other = await walk({ since: '2024-01-01' }, 1, 700);
  await walk(at(300, other.id), 4, 290);

  expect(await arrive(await walk(at(600, id), 0, null))).toBe(null);
});

test('a hand-off waits for one below it that is in progress, and ends there', async () => {
  const { walk, arrive, pool } = await openScene();
  const { id } = await walk({}, 1, 1000, { state: 'finished' });
  const below = await walk(at(300, id), 0, null);
  let above: Promise<number | null> | undefined;

  await arrive(below, async (tx) => {
    above = arrive(await walk(at(600, id), 0, null));
    await untilLocked(pool);
    await tx.execute(sql`update etl.walks set pages = 1, top = 290 where id = ${below.id}`);
  });

  expect(await above).toBe(290);
});

/** A list of 200 operations, the walk from its head, and one that is to enter it at block 100. */
async function openPair() {
  const list = await keepLists({ operations: oneEach(1, 200) });
  const database = await freshDatabase();
  const settings = { chains: [plainChain], operations: ['user-operations'], pageSize: 10 };
  const engine = await openContender(database, { url: list.url, ...settings });
  const run = await beginRun(engine, lane, {});
  const above = await claim(engine, run);
  if (above === null) throw new Error('the run has no walk');
  const key = `0x${'f'.repeat(64)}`;
  await database.query(
    `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, cursor, from_head)
     values (10, 'user-operations', 'backfill', $1, 'newest-first', $2, $3, false)`,
    [
      run.id,
      { entry: { height: 100, key }, remainder_of: above.id },
      { page_token: `100,${key}`, page_size: 10 },
    ],
  );
  return { list, database, engine, run, above, key };
}

test.each([
  ['', 10],
  [' with a page of one item', 1],
])(
  'an end above a walk that is handed off later%s covers nothing below its last item',
  async (_, items) => {
    const { list, engine, run, above, key } = await openPair();
    list.lie = (page, { cursor }) => {
      if (cursor === `180,${hashOf(180)}`) return { ...page, next_page_params: null };
      if (cursor !== `100,${key}`) return null;
      const next = { page_token: `${100 - items},${hashOf(100 - items)}` };
      return { ...page, items: page.items.slice(0, items), next_page_params: next };
    };
    await walkOn(engine, above, 100);

    const below = await claim(engine, run);
    if (below === null) throw new Error('the run has no second walk');
    await walkOn(engine, below, 100);

    const [{ covered, open } = {}] = (await verifyFeeds(engine.db)).map(inWords);
    expect(covered).toMatchObject([
      { from: 0, to: 98 },
      { from: 172, to: 198 },
    ]);
    expect(open).toContain('blocks 99 to 171: not downloaded');
  },
);

const late = { block: 100, id: 2 ** 30, fee: '1' };
const farAbove = 999_999_999_999;

test.each([
  ['keeps the block that is known of it', null, 100, farAbove, { block: 100, extra: null }],
  [
    'gets none if it is new',
    late,
    100,
    farAbove,
    { block: null, extra: { 'block_number (out of order)': farAbove } },
  ],
  ['keeps the known blocks of those below it', null, 95, 101, { block: 95, extra: null }],
])('an item above the position where a walk enters %s', async (_, added, block, first, stored) => {
  const { list, database, engine, run, above, key } = await openPair();
  await walkOn(engine, above, 100);
  if (added !== null) list.operations = [...list.operations, added];
  list.lie = ({ items, ...page }, { cursor }) =>
    cursor === `100,${key}`
      ? {
          ...page,
          items: items.map((item, index) => ({ ...item, block_number: String(first - index) })),
        }
      : null;

  const entering = await claim(engine, run);
  if (entering === null) throw new Error('the run has no second walk');
  await walkOn(engine, entering, 100);

  expect(
    await database.query(
      'select block_number::int as block, extra from explorer.user_operations where hash = $1',
      [hashOf(added?.id ?? block)],
    ),
  ).toEqual([stored]);
});

test('an end that was judged before a walk below was handed off is judged again', async () => {
  const list = await keepLists({ operations: oneEach(1, 5) });
  const database = await freshDatabase();
  const settings = { chains: [plainChain], operations: ['user-operations'], pageSize: 10 };
  const engine = await openContender(database, { url: list.url, ...settings });
  const first = await claim(engine, await beginRun(engine, lane, {}));
  if (first === null) throw new Error('the run has no walk');
  await database.query(`update etl.walks set floor = 3`);

  expect(await walkOn(engine, first, 100)).toMatchObject({ is: 'fenced' });

  expect(await database.query('select state from etl.walks')).toEqual([{ state: 'running' }]);
});

test('the walks beside one that takes over a part of another commit at once', async () => {
  const url = await answered(() => ({
    body: {
      items: [{ hash: hashOf(1), block_number: 500 }],
      next_page_params: { page_size: 50, page_token: '2,0x' },
    },
  }));
  const database = await freshDatabase();
  const engine = await openContender(database, { url, chains: [plainChain] });
  const run = await beginRun(engine, lane, {});
  let flushed = 0;
  const beside = () => new Set([{ flush: () => void (flushed += 1) }]);
  const first = await claim(engine, run);
  if (first === null) throw new Error('the run has no walk');

  await walkOn(engine, first, 1, beside());
  expect(flushed).toBe(0);

  const scope = JSON.stringify(at(600, first.id));
  await database.query(`update etl.walks set pages = 0, scope = '${scope}'`);
  await database.query('delete from etl.pages');
  const arriving = await claim(engine, run);
  if (arriving === null) throw new Error('the run has no walk');
  await walkOn(engine, arriving, 1, beside());
  expect(flushed).toBe(1);
});

const facts: PageFacts = {
  page_id: 1,
  sequence: 0,
  cursor_in: null,
  cursor_out: null,
  items: 3,
  bytes: 0,
  body_hash: '',
  attempts: 1,
  latency_ms: 0,
  fetched_at: '2026-01-01T00:00:00Z',
};

test.each([
  ['that is where its cursor leads ends those above it', null, 580],
  [
    'that missed its synthetic cursor ends none',
    { is: 'bound', bound: 'misplaced-entry' } as const,
    null,
  ],
])('a walk %s', async (_, end, floor) => {
  const { walk, floorOf, db } = await openScene();
  const first = await walk({}, 1, 1000);
  const arriving = arrivingWalk(await walk(at(600, first.id), 0, null));
  if (arriving === null) throw new Error('it takes over nothing');
  const places = [590, 580, 570].map((height) => ({ height, key: `0x${height}`, timeMs: null }));
  const entry = { height: 600, key: '0x' };
  const order = judgeOrder(places, { previousLast: null, entry, isEntryAbove: true, next: null });

  const page = normalisePage(operations[lane.operation], facts, [], {
    chain_id: 10,
    scope: {},
    position: 0,
    order,
    misplaced: [],
  });

  await transact(db, (tx) =>
    handOff(tx, arriving, [{ page, end, emptyRun: 0, isOlder: false, body: null }]),
  );

  expect(await floorOf(first)).toBe(floor);
});
