import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import { kindOf } from '../../../src/lists/index.ts';
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
  /** What the walk before met in the same run, and whether it failed. */
  readonly before?: readonly number[];
  readonly hasFailed?: boolean;
  /** How many walks of the run were refused, and how many rankings were published. */
  readonly refused?: number;
  readonly published?: number;
  /** What the walk's pages met that are committed. */
  readonly met?: readonly number[];
  /** What stands on the page that claims to be the last. */
  readonly last?: readonly number[];
  readonly quarantined?: number;
}

/** What the operation says of the end, with the database as the scene has it. */
async function judge(scene: Scene): Promise<EndVerdict> {
  const { db, claim } = await claimOf(scene);
  return kindOf('factories').judgeEnd(db, claim);
}

/** A database as the scene has it, and the claim of its end. */
async function claimOf({
  ranked = [],
  before = [],
  hasFailed = false,
  refused = 0,
  published = 1,
  met = [],
  last = [],
  quarantined = 0,
}: Scene) {
  const { query, db } = await freshDatabase();
  await query(
    `insert into explorer.factories (chain_id, address_hash, total_accounts, rank, page_id)
     select ${chain}, address, 1, rank, 1
     from unnest($1::text[]) with ordinality as listed(address, rank)`,
    [ranked.map(addressOf)],
  );
  await query(
    `insert into etl.rankings (walk_id, feed, as_of, published_at, items, walks, still_moving)
     select id, '${chain}/factories', '2026-05-06T07:08:09Z', now(), $1::int, 1, false
     from generate_series(1, $2::int) as id where $1::int > 0`,
    [ranked.length, published],
  );
  await query(`
    insert into etl.feeds (chain_id, operation, kind, settings)
    values (${chain}, 'factories', 'ranked', '{}')`);
  await query(`
    insert into etl.walks (id, chain_id, operation, lane, run_id, kind, scope, state)
    values (${walk - 1}, ${chain}, 'factories', 'backfill', ${run}, 'ranked', '{}', '${hasFailed ? 'failed' : 'finished'}'),
           (${walk}, ${chain}, 'factories', 'backfill', ${run}, 'ranked', '{}', 'running')`);
  await query(
    `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, state, failure)
     select ${chain}, 'factories', 'backfill', ${run}, 'ranked', '{}', 'failed', 'truncated'
     from generate_series(1, $1::int)`,
    [refused],
  );
  for (const [id, list] of [
    [walk - 1, before],
    [walk, met],
  ] as const) {
    await query(
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
    cursor: { page_token: 'unreadable' },
    quarantined,
    pageSize: 50,
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
  return { query, db, claim };
}

/** Of a ranking of 230, the places that a list cut after the hundredth has met. */
const cut = { ranked: places(1, 230), met: places(1, 100) };
const small = places(1, 60);
const other = { met: places(501, 550), last: places(551, 560) };
const nearlyAll = { met: places(1, 200), last: places(201, 229) };

test.each<[what: string, is: EndVerdict['is'], Scene]>([
  [
    'after all items of the last ranking',
    'supported',
    { ranked: places(1, 230), met: places(1, 200), last: places(201, 230) },
  ],
  ['on a short page that comes too early', 'contradicted', { ...cut, last: places(101, 137) }],
  ['on a full page that comes too early', 'contradicted', { ...cut, last: places(101, 150) }],
  [
    'below some of the lower part that rose and were met',
    'contradicted',
    { ...cut, met: [229, ...places(1, 99), 180, 210] },
  ],
  ['of an empty list in which few were ranked', 'contradicted', { ranked: places(1, 3) }],
  ['of a list that was never read', 'unsupported', { met: places(1, 50), last: places(51, 60) }],
  ['of an empty list that was never read', 'unsupported', {}],
  [
    'after factories are missed here and there',
    'unsupported',
    {
      ranked: places(1, 230),
      met: places(1, 200).filter((place) => place % 5 !== 0),
      last: places(201, 230),
    },
  ],
  [
    'from which the last few may have left',
    'unsupported',
    { ranked: places(1, 230), met: places(1, 200), last: places(201, 225) },
  ],
  [
    'below a new factory at the bottom, which may have more below it',
    'unsupported',
    { ranked: small, met: places(1, 50), last: places(51, 61) },
  ],
  [
    'on an empty page behind a cursor, though all were met',
    'unsupported',
    { ranked: places(1, 50), met: places(1, 50) },
  ],
  [
    'with as many in quarantine as were not met',
    'supported',
    { ranked: small, met: places(1, 50), last: [60], quarantined: 9 },
  ],
  ['of a list that is all in quarantine', 'unsupported', { ranked: small, quarantined: 60 }],
  [
    'of a list that some left since its ranking',
    'unsupported',
    { ranked: [...places(1, 229), 500, 501], ...nearlyAll },
  ],
  [
    'of a list that they had left in the walk before, too',
    'supported',
    { ranked: [...places(1, 229), 500, 501], before: places(1, 229), ...nearlyAll },
  ],
  ['of another list', 'contradicted', { ranked: places(1, 230), ...other }],
  ['of another list once more', 'unsupported', { ranked: places(1, 230), ...other, refused: 1 }],
  [
    'of a shorter list once more',
    'contradicted',
    { ...cut, met: [...places(1, 100), 901], last: [902], refused: 9 },
  ],
  [
    'of another list than several rankings',
    'contradicted',
    { ranked: places(1, 230), ...other, refused: 2, published: 9 },
  ],
  [
    'of another list than several rankings time and again',
    'unsupported',
    { ranked: places(1, 230), ...other, refused: 3, published: 9 },
  ],
  [
    'if the walk before failed',
    'unsupported',
    { before: places(1, 229), hasFailed: true, ...nearlyAll },
  ],
])('an end %s is %s', async (_what, is, scene) => {
  expect((await judge(scene)).is).toBe(is);
});

test('a contradicted end names its evidence: the last ranking, or the walk before', async () => {
  expect(await judge(cut)).toEqual({
    is: 'contradicted',
    evidence:
      'ends after 100 factories, where the ranking of 2026-05-06T07:08:09Z held 230, 130 of them not met',
    question: null,
  });
  expect(await judge({ before: places(1, 230), met: places(1, 100) })).toMatchObject({
    evidence: 'ends after 100 factories, where the walk before met 230, 130 of them not met',
  });
});

/** A node of a plan, as `explain` has it. */
interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): readonly PlanNode[] => [
  node,
  ...(node.Plans ?? []).flatMap(nodesOf),
];

test('an end is judged by no more of the ledger the more runs there were', async () => {
  const many = 3_000;
  const { query, db, claim } = await claimOf({
    ranked: places(1, 230),
    before: places(1, 230),
    met: places(1, 200),
    last: places(201, 230),
    published: many,
  });
  await query(`
    insert into etl.walks (id, chain_id, operation, lane, run_id, kind, scope, state)
    select 1000 + number, ${chain}, 'factories', 'backfill', 1000 + number, 'ranked', '{}', 'finished'
    from generate_series(1, ${many}) as number`);
  await query(`
    insert into etl.pages (id, walk_id, feed, sequence, items, rows, repeats, quarantined, inserted, changed,
                           bytes, body_hash, attempts, latency_ms, credits, fetched_at)
    select number, 1000 + number, '${chain}/factories', 0, 0, 0, 0, 0, 0, 0, 0, '', 1, 0, 20, now()
    from generate_series(1, ${many}) as number`);
  await query('analyze etl.walks, etl.pages, etl.rankings, etl.ranking_entries');
  const read = new Map<string, number>();
  const explained = {
    async execute(statement: SQL) {
      const { sql, params } = new PgDialect().sqlToQuery(statement);
      const [row] = await query(`explain (analyze, format json) ${sql}`, params);
      const [{ Plan: plan }] = row['QUERY PLAN'] as [{ Plan: PlanNode }];
      for (const node of nodesOf(plan)) {
        const { 'Relation Name': name, 'Actual Rows': rows, 'Actual Loops': loops } = node;
        if (name === undefined) continue;
        const seen = (rows + (node['Rows Removed by Filter'] ?? 0)) * loops;
        read.set(name, (read.get(name) ?? 0) + seen);
      }
      return db.execute(statement);
    },
  };

  const verdict = await kindOf('factories').judgeEnd(explained as typeof db, claim);

  expect(verdict).toEqual({ is: 'supported' });
  const ledger = ['walks', 'pages', 'rankings'].map((name) => [name, read.get(name)]);
  expect(ledger.filter(([, rows = many]) => Number(rows) > 10)).toEqual([]);
});
