import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, test } from 'vitest';
import { factories } from '../../../src/lists/factories/index.ts';
import type { EndClaim, EndVerdict } from '../../../src/lists/operation.ts';
import { freshDatabase } from '../../harness/database.ts';

const chain = 10;
const run = 7;
const walk = 71;

const addressOf = (place: number) => `0x${place.toString(16).padStart(40, '0')}`;
/** The places from one to another, both included. */
const places = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);

/** What was known when a walk claims that the list ends. */
interface Scene {
  /** Places that the newest ranking held. */
  readonly ranked?: readonly number[];
  /** What the walk before met in the same run. */
  readonly before?: readonly number[];
  /** What the walk's pages met that are committed. */
  readonly met?: readonly number[];
  /** What stands on the page that claims to be the last. */
  readonly last?: readonly number[];
  readonly quarantined?: number;
}

/** What the operation says of the end, with the database as the scene has it. */
async function judge({
  ranked = [],
  before = [],
  met = [],
  last = [],
  quarantined = 0,
}: Scene): Promise<EndVerdict> {
  const { pool } = await freshDatabase();
  await pool.query(
    `insert into explorer.factories (chain_id, address_hash, total_accounts, rank, page_id)
     select ${chain}, address, 1, rank, 1
     from unnest($1::text[]) with ordinality as listed(address, rank)`,
    [ranked.map(addressOf)],
  );
  await pool.query(
    `insert into etl.rankings (walk_id, feed, as_of, published_at, items, walks, still_moving)
     select 1, '${chain}/factories', '2026-05-06T07:08:09Z', now(), $1::int, 1, false where $1::int > 0`,
    [ranked.length],
  );
  await pool.query(
    `insert into etl.feeds (chain_id, operation, kind, settings)
     values (${chain}, 'factories', 'ranked', '{}')`,
  );
  await pool.query(
    `insert into etl.walks (id, chain_id, operation, lane, run_id, kind, scope, state)
     values (${walk - 1}, ${chain}, 'factories', 'backfill', ${run}, 'ranked', '{}', 'finished'),
            (${walk}, ${chain}, 'factories', 'backfill', ${run}, 'ranked', '{}', 'running')`,
  );
  for (const [id, list] of [
    [walk - 1, before],
    [walk, met],
  ] as const) {
    await pool.query(
      `insert into etl.ranking_entries (walk_id, key, position)
       select ${id}, address, place - 1 from unnest($1::text[]) with ordinality as met(address, place)`,
      [list.map(addressOf)],
    );
  }
  const claim: EndClaim = {
    walk_id: walk,
    run_id: run,
    chain_id: chain,
    feed: `${chain}/factories`,
    scope: {},
    last: null,
    entry: 'unknown',
    quarantined,
    isFull: false,
    pageSize: 50,
    promised: null,
    isResumed: false,
    rows: last.map((place, index) => ({
      key: addressOf(place),
      row: {},
      children: [],
      addresses: [],
      position: met.length + index,
      height: null,
      missing: { columns: [], children: [] },
    })),
  };
  return factories.judgeEnd(drizzle(pool), claim);
}

const verdict = async (scene: Scene) => (await judge(scene)).is;

test('an end after all that the last ranking held is supported', async () => {
  expect(
    await verdict({ ranked: places(1, 230), met: places(1, 200), last: places(201, 230) }),
  ).toBe('supported');
});

test('an end that cuts the lower part of the last ranking off is contradicted, with the evidence', async () => {
  expect(await judge({ ranked: places(1, 230), met: places(1, 100) })).toEqual({
    is: 'contradicted',
    evidence:
      'ends after 100 factories, where the ranking of 2026-05-06T07:08:09Z held 230, 130 of them not met',
    question: null,
  });
});

test('a short and a full page that end the list too early are as empty ones', async () => {
  const ranked = places(1, 230);
  expect(await verdict({ ranked, met: places(1, 100), last: places(101, 137) })).toBe(
    'contradicted',
  );
  expect(await verdict({ ranked, met: places(1, 100), last: places(101, 150) })).toBe(
    'contradicted',
  );
});

test('a list that is empty where somebody was ranked is contradicted, however few they were', async () => {
  expect(await verdict({ ranked: places(1, 3) })).toBe('contradicted');
});

test('an end of a list that nobody has read before is unsupported', async () => {
  expect(await verdict({ met: places(1, 50), last: places(51, 60) })).toBe('unsupported');
  expect(await verdict({})).toBe('unsupported');
});

test('factories that are missed here and there, or leave, contradict nothing', async () => {
  const ranked = places(1, 230);
  const moved = places(1, 200).filter((place) => place % 5 !== 0);
  expect(await verdict({ ranked, met: moved, last: places(201, 230) })).toBe('unsupported');
  // The last few of a list may well have left it.
  expect(await verdict({ ranked, met: places(1, 200), last: places(201, 225) })).toBe(
    'unsupported',
  );
});

test('one of the lower part that rose and was met does not hide that the others are missing', async () => {
  const met = [229, ...places(1, 99), 180, 210];
  expect(await verdict({ ranked: places(1, 230), met })).toBe('contradicted');
});

test('what is new at the bottom may have more below it, and is requested again', async () => {
  const ranked = places(1, 60);
  expect(await verdict({ ranked, met: places(1, 50), last: places(51, 61) })).toBe('unsupported');
});

test('an empty page behind a cursor supports no end, though all were met', async () => {
  expect(await verdict({ ranked: places(1, 50), met: places(1, 50) })).toBe('unsupported');
});

test('as many as stand in quarantine may be those that were not met', async () => {
  const ranked = places(1, 60);
  expect(await verdict({ ranked, met: places(1, 50), last: [60], quarantined: 9 })).toBe(
    'supported',
  );
  expect(await verdict({ ranked: places(1, 50), quarantined: 50 })).toBe('unsupported');
});

test('the walk before in the same run is evidence too', async () => {
  const before = places(1, 230);
  expect(await verdict({ before, met: places(1, 100) })).toBe('contradicted');
  expect(await judge({ before, met: places(1, 100) })).toMatchObject({
    evidence: 'ends after 100 factories, where the walk before met 230, 130 of them not met',
  });
  // Who left the list was not met by it either.
  const ranked = [...places(1, 229), 500, 501];
  const met = { met: places(1, 200), last: places(201, 229) };
  expect(await verdict({ ranked, ...met })).toBe('unsupported');
  expect(await verdict({ ranked, before: places(1, 229), ...met })).toBe('supported');
});
