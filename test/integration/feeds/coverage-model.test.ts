import fc from 'fast-check';
import { expect, test } from 'vitest';
import { floorsOf } from '../../../src/lists/newest-first/deep-polls.ts';
import { gapsOf } from '../../../src/lists/newest-first/gaps.ts';
import { recountCoverage } from '../../../src/status/verify.ts';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';

/** Each case is a handful of statements: a few seconds in all. */
const numRuns = 25;
const highestBlock = 24;
const feed = { chain_id: 10, operation: 'user-operations' } as const;

interface Walk {
  readonly top: number;
  readonly bottom: number;
  /** Whether its pages verify anything. */
  readonly isVerifying: boolean;
  readonly state: string;
  readonly reason: string | null;
}

interface Stored {
  readonly block: number;
  readonly hasTime: boolean;
}

const ends = [
  { state: 'finished', reason: null },
  { state: 'finished', reason: 'floor' },
  { state: 'finished', reason: 'until' },
  { state: 'finished', reason: 'since' },
  { state: 'running', reason: null },
  { state: 'failed', reason: 'cursor loop' },
];

const blocks = fc.integer({ min: 0, max: highestBlock });
const walks = fc.array(
  fc
    .record({ heights: fc.tuple(blocks, blocks), isOrdered: fc.boolean(), end: fc.nat(5) })
    .map(({ heights, isOrdered, end }): Walk => ({
      top: Math.max(...heights),
      bottom: Math.min(...heights),
      // Mostly: the rest was out of order.
      isVerifying: isOrdered || heights[0] % 2 === 0,
      state: ends[end]?.state ?? '',
      reason: ends[end]?.reason ?? null,
    })),
  { maxLength: 5 },
);
const operations = fc.array(
  fc.record({ block: blocks, hasTime: fc.boolean() }).map((operation): Stored => operation),
  { maxLength: 12 },
);

const genesisMs = Date.UTC(2026, 0, 1);
const blockMs = 2_000;
const timeOf = (block: number) => new Date(genesisMs + block * blockMs).toISOString();

async function fill(
  { pool, db }: TestDatabase,
  walked: readonly Walk[],
  stored: readonly Stored[],
  since: number | null,
): Promise<void> {
  await pool.query('truncate etl.walks, etl.feeds, explorer.user_operations cascade');
  await pool.query(
    `insert into etl.feeds (chain_id, operation, kind, settings) values (10, 'user-operations', 'newest-first', $1)`,
    [{ since: since === null ? null : timeOf(since) }],
  );
  await pool.query(
    `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, top, bottom, verified, state, reason)
     select 10, 'user-operations', 'backfill', 1, 'newest-first',
            jsonb_build_object('max_pages', number, 'since', $2::text), top, bottom, verified::int8multirange, state, reason
     from json_to_recordset($1) as walk(
       top bigint, bottom bigint, verified text, state text, reason text, number bigint)`,
    [
      JSON.stringify(
        walked.map((walk, number) => ({ ...walk, number, verified: multirangeText(walk) })),
      ),
      since === null ? null : timeOf(since),
    ],
  );
  await recountCoverage(db);
  await pool.query(
    `insert into explorer.user_operations (chain_id, hash, block_number, timestamp, page_id)
     select 10, number::text, block, time, 1
     from json_to_recordset($1) as operation(block bigint, time timestamptz, number bigint)`,
    [
      JSON.stringify(
        stored.map(({ block, hasTime }, number) => ({
          block,
          time: hasTime ? timeOf(block) : null,
          number,
        })),
      ),
    ],
  );
}

/** The blocks that a walk verifies, one by one. */
function verifiedBy({ isVerifying, top, bottom, state, reason }: Walk): number[] {
  if (!isVerifying) return [];
  const lowest = state === 'finished' && reason === null ? 0 : bottom + 1;
  return Array.from({ length: Math.max(0, top - lowest) }, (_, index) => lowest + index);
}

const multirangeText = (walk: Walk) =>
  `{${verifiedBy(walk)
    .map((block) => `[${block},${block}]`)
    .join()}}`;

/** The newest block that the newest walk met: all walks of the model begin at the head. */
const headOf = (walked: readonly Walk[]) => walked.at(-1)?.top ?? Infinity;

/** The blocks that walks verify together. */
const covered = (walked: readonly Walk[]) =>
  new Set(walked.flatMap(verifiedBy).filter((block) => block < headOf(walked)));

const highestOf = (walked: readonly Walk[]) =>
  Math.min(headOf(walked), Math.max(-1, ...walked.map(({ top }) => top)));

/** Whole numbers as runs of neighbours, the lowest first. */
function runs(numbers: readonly number[]): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = found.at(-1);
    if (last?.to === number - 1) last.to = number;
    else found.push({ from: number, to: number });
  }
  return found;
}

/**
 * The lowest block that is wanted: right above the second lowest of two older items near the end of a walk
 * that ended at `since`.
 */
function lowestWanted(
  walked: readonly Walk[],
  stored: readonly Stored[],
  since: number | null,
): number {
  if (since === null) return 0;
  const stops = walked
    .filter(({ reason }) => reason === 'since')
    .flatMap(({ bottom }) => {
      const nearest = stored
        .filter(({ block, hasTime }) => hasTime && block >= bottom)
        .map(({ block }) => block)
        .sort((a, b) => a - b)
        .slice(0, 5);
      return nearest.filter((block) => block < since)[1] ?? [];
    });
  return Math.max(0, ...stops.map((stop) => stop + 1));
}

test('coverage and its gaps are those of a plain set of block numbers', async () => {
  const database = await freshDatabase();
  await fc.assert(
    fc.asyncProperty(walks, operations, fc.option(blocks), async (walked, stored, since) => {
      await fill(database, walked, stored, since);
      const rows = await database.query(`
        select lower(range)::int as "from", upper(range)::int - 1 as "to"
        from etl.feed_coverage, unnest(covered) as range order by 1`);
      const verified = covered(walked);
      expect(rows).toEqual(runs([...verified]));
      const all = Array.from({ length: Math.max(0, highestOf(walked)) }, (_, block) => block);
      const lowest = lowestWanted(walked, stored, since);
      const gaps = runs(all.filter((block) => block >= lowest && !verified.has(block)));
      const wanted = since === null ? null : timeOf(since);
      expect(await gapsOf(database.db, feed, wanted)).toEqual(gaps.toReversed());
      const ofFile = await database.query(`
        select lower(gap)::int as "from", upper(gap)::int - 1 as "to"
        from etl.feed_gaps where is_open order by 1`);
      expect(ofFile).toEqual(gaps);
    }),
    { numRuns },
  );
});

/** The floor of a walk that is so deep below the covered top, by looking at one block after the other. */
function floorOf(
  walked: readonly Walk[],
  stored: readonly Stored[],
  depthMs: number,
): number | null {
  const from = highestOf(walked);
  if (from < 0) return null;
  const timed = stored.filter(({ block, hasTime }) => hasTime && block <= from);
  if (timed.length === 0) return from;
  const at = Math.max(...timed.map(({ block }) => block)) * blockMs;
  const older = timed.filter(({ block }) => block * blockMs < at - depthMs);
  const known = covered(walked);
  const deep = Math.max(Math.min(from, ...known), ...older.map(({ block }) => block));
  const above = [...known].filter((block) => block >= deep && block < from).length;
  if (2 * above >= from - deep) return deep;
  return Math.max(deep, Math.min(from, runs([...known]).at(-1)?.from ?? from));
}

test('a stop height is as deep as its depth by the times of the operations, and never below a wide gap', async () => {
  const database = await freshDatabase();
  const depths = fc.uniqueArray(fc.integer({ min: 0, max: highestBlock * blockMs }), {
    minLength: 1,
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(walks, operations, depths, async (walked, stored, depthsMs) => {
      await fill(database, walked, stored, null);
      const found = await floorsOf(database.db, feed, depthsMs);
      const expected = depthsMs
        .toSorted((a, b) => a - b)
        .map((depthMs) => ({ depthMs, floor: floorOf(walked, stored, depthMs) }))
        .filter(({ floor }) => floor !== null);
      expect(found.map(({ depthMs, floor }) => ({ depthMs, floor }))).toEqual(expected);
    }),
    { numRuns },
  );
});
