import { beforeAll, describe, expect, test } from 'vitest';
import { grow } from '../../harness/seeded/fill.ts';
import { goRound, type Round } from '../../harness/seeded/rounds.ts';
import { urlWithSettings } from '../../../src/db/pool.ts';
import { createTestDatabase } from '../../harness/database.ts';

/**
 * A block a minute: months of history, so that what is bounded by days, as deep polls are, or by tens of thousands of rows
 * is a part of it.
 */
const size = { operations: 200_000, nowMs: Date.now(), blockMs: 60_000 };

/** Fewer rows are read whole for no less than by an index. */
const large = 1_000;

/** Reading so much of a table is reading all of it: twice the history takes twice as long. */
const wholePart = 0.4;

const compared = 'verify holds each batch against its rows and against the list of batches';
const bounded = 'it reads at most 20,000 of the newest items, and here are fewer batches';
const changed =
  'maintenance asks which old pages rows came from: any page may have changed any of them';

/** What grows with history and has to, or would here. */
const argued: Readonly<Record<string, string>> = {
  'status/verify.ts: explorer.read_batches': compared,
  'etl.all_findings: explorer.read_batches': compared,
  'etl.findings_of_batches: explorer.read_batches': compared,
  'etl.findings_of_batches: explorer.listed_batches': compared,
  'within a function: explorer.listed_batches': bounded,
  'etl.findings_of_batches: explorer.blocks':
    'verify holds each block against the one below it: that is the verification',
  'etl.all_findings: etl.walks':
    'verify computes coverage again from the ledger, and compares it with what is stored',
  'etl.all_findings: etl.pages': 'it counts the pages of each walk',
  'lists/prune.ts lockIdle: etl.walks':
    'maintenance looks at each old walk of a feed once an hour, 500 of them in a transaction',
  'lists/prune.ts pagesOfRows: explorer.addresses': changed,
  'lists/prune.ts pagesOfRows: explorer.listed_batches': changed,
  'lists/prune.ts pagesOfRows: explorer.read_batches': changed,
};

/** Tables so small that a plan reads them whole or by an index, by what it knows of their sizes. */
const eitherWay: ReadonlySet<string> = new Set([
  'load/upsert.ts replaceChildren: explorer.listed_batches',
  'lists/prune.ts prunableWalks: etl.runs',
  'lists/prune.ts deleteWalks: etl.runs',
]);

/** The statements that a backfill lane of a newest-first list plans its walks by. */
const planning = [
  'lists/feed.ts hasUnfinished',
  'lists/feed.ts walksCalledFor',
  'lists/newest-first/deep-polls.ts dueDepths',
  'lists/newest-first/deep-polls.ts floorsOf',
  'lists/newest-first/deep-polls.ts isShort',
  'lists/newest-first/deep-polls.ts planSegments',
  'lists/newest-first/gaps.ts believesEntries',
  'lists/newest-first/gaps.ts entryAbove',
  'lists/newest-first/gaps.ts entryInto',
  'lists/newest-first/gaps.ts gapsOf',
  'lists/newest-first/index.ts hasCoverage',
  'lists/newest-first/run.ts walksOf',
  'lists/newest-first/split.ts beginningOf',
  'lists/positions.ts itemAbove',
];

let rounds: readonly Round[] = [];
let rowsOf: ReadonlyMap<string, number> = new Map();

beforeAll(async () => {
  const database = await createTestDatabase();
  try {
    await grow(database.pool, size);
    const rows = await database.query(
      `select oid::regclass::text as table, reltuples as rows from pg_class where relkind = 'r'`,
    );
    rowsOf = new Map(rows.map((row) => [row.table, row.rows]));
    const gone: Round[] = [];
    // As users have them planned, not once for all values.
    const url = urlWithSettings(database.url, { plan_cache_mode: 'auto' });
    await goRound(url, size, (round) => gone.push(round));
    rounds = gone;
  } finally {
    await database.drop();
  }
});

describe('no statement reads more the longer the history is', () => {
  test.each([
    'status',
    'strips',
    'feeds of the page',
    'trace',
    'plan',
    'verify',
    'views of completeness',
    'due',
    'live lane of 10/user-operations',
    'live lane of 10/optimism-batches',
    'live lane of 10/optimism-batch-blocks',
    'a range of blocks',
    'a range of blocks, without synthetic cursors',
    'backfill lane of 10/user-operations',
    'backfill lane of 10/optimism-batch-blocks',
    'backfill lane of 10/factories',
    'housekeeping',
  ])('of %s', (what) => {
    const gone = rounds.filter((round) => round.what === what);
    expect(gone.flatMap(({ statements }) => statements)).not.toEqual([]);
    expect([...new Set(gone.flatMap(growing))]).toEqual([]);
  });
});

test('the statements that plan a backfill are among those measured', () => {
  const requested = new Set(
    rounds
      .filter(({ what }) => /^(?:a range|backfill)/u.test(what))
      .flatMap(({ statements }) => statements.map(({ from }) => from)),
  );
  expect([...requested].filter((from) => planning.includes(from)).toSorted()).toEqual(planning);
});

test('every statement that is allowed to grow still grows', () => {
  const found = new Set(rounds.flatMap(grown));
  expect(Object.keys(argued).filter((name) => !found.has(name))).toEqual([]);
});

// Every status plans its statements; a session plans those within functions once.
test('no statement of status has more than 300 nodes', () => {
  const sizes = rounds
    .filter(({ what }) => what === 'status')
    .flatMap(({ statements }) => statements.filter(({ from }) => from !== 'within a function'))
    .map(({ nodes }) => nodes);
  expect(Math.max(...sizes)).toBeGreaterThan(100);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(300);
});

const growing = (round: Round) =>
  grown(round).filter((name) => !(name in argued) && !eitherWay.has(name));

/** Statements that read a large table whole, with the table. */
function grown({ statements }: Round): string[] {
  return statements.flatMap(({ from, rows, scanned }) => {
    const whole = [...rows].filter(([table, read]) => read > wholePart * (rowsOf.get(table) ?? 0));
    return [...new Set([...whole.map(([table]) => table), ...scanned])]
      .filter((table) => (rowsOf.get(table) ?? 0) >= large)
      .map((table) => `${from}: ${table}`);
  });
}
