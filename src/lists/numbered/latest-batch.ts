import { sql, type SQL } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import { feedName, ofFeed } from '../feed.ts';
import type { WalkPlan } from '../list.ts';
import type { NumberedWalk } from '../operation.ts';
import { begunBy, moveFrontier, type NumberedRun, shown, walkOf } from './walks.ts';

/** How many empty numbers in a row end the way upward once a run has met new batches. */
const gapsPassed = 3;

/** The search's next poll, one page of one batch; null when the latest known batch is found or there is none. */
export async function planSearch(
  tx: Transaction,
  run: NumberedRun,
  from: number,
): Promise<WalkPlan<NumberedWalk>> {
  const { hits, misses, isUnderWay, hasFailed } = shown(await begunBy(tx, run));
  if (isUnderWay) return 'wait';
  const hit = hits.length === 0 ? null : Math.max(...hits);
  // A poll that failed would be requested again at once; the next run searches again.
  if (hasFailed) return null;
  const listed = await newestListed(tx, run.chain_id, Math.max(from, hit ?? 0));
  const isNew = listed !== null && listed !== hit && !misses.includes(listed);
  const found = { from, hit, misses: new Set(misses) };
  // The number that the list ends with, and which has blocks, needs no run of empty ones above it.
  const number = isNew ? listed : hit !== null && hit === listed ? null : nextProbe(found);
  if (number !== null) return walkOf(number, { max_pages: 1, probe: true });
  if (hit !== null) await moveFrontier(tx, run, hit);
  return null;
}

/** What a live run has found above the latest known batch. */
export interface Following {
  /** Where the latest known batch was when the run began; what is above it is new. */
  readonly base: number;
  readonly newest: number;
  /** The next poll, if there is to be one. */
  readonly poll: WalkPlan<NumberedWalk>;
}

/**
 * The live run's next poll above the latest known batch: one where nothing is new; where something is, on
 * upward past a few gaps. A poll that fails ends the polling, and says nothing of its number. A number
 * is polled once a run: a batch can be listed long before its blocks are there.
 */
export async function follow(
  tx: Transaction,
  run: NumberedRun,
  frontier: number,
): Promise<Following> {
  const base = await baseOf(tx, run, frontier);
  const polls = (await begunBy(tx, run)).filter(({ batch }) => batch > base);
  const { hits, misses, isUnderWay, hasFailed } = shown(polls);
  const newest = Math.max(frontier, ...hits);
  if (isUnderWay) return { base, newest, poll: 'wait' };
  if (newest > frontier) await moveFrontier(tx, run, newest);
  if (hasFailed) return { base, newest, poll: null };
  const polled = new Set(polls.map(({ batch }) => batch));
  const listed = await listedFrom(tx, run.chain_id, newest);
  const next = nextListed(listed, newest, polled);
  if (next !== undefined) return { base, newest, poll: walkOf(next, { probe: true }) };
  // What is new came by the list, which has no more: no other number is requested.
  if (newest > base && listed.includes(newest)) return { base, newest, poll: null };
  // A listed number without blocks says nothing of those that the list does not have.
  const missed = misses.filter((batch) => batch > newest && !listed.includes(batch)).length;
  if (missed >= (newest > base ? gapsPassed : 1)) return { base, newest, poll: null };
  const number =
    newest > base
      ? nextUnlisted(newest, polled, listed)
      : newest + offsetOf(await pollsBefore(tx, run, base));
  return { base, newest, poll: polled.has(number) ? null : walkOf(number, { probe: true }) };
}

/**
 * The next listed number to poll. Where many are listed and not indexed yet, the first few and the last
 * report that: each request costs as much as a page of blocks.
 */
function nextListed(listed: readonly number[], newest: number, polled: ReadonlySet<number>) {
  const above = listed.filter((number) => number > newest);
  return [...above.slice(0, gapsPassed), ...above.slice(-1)].find((number) => !polled.has(number));
}

/** The lowest number above the newest batch that the list does not have and the run has not polled. */
function nextUnlisted(
  newest: number,
  polled: ReadonlySet<number>,
  listed: readonly number[],
): number {
  let number = newest + 1;
  while (polled.has(number) || listed.includes(number)) number += 1;
  return number;
}

/**
 * How many live runs have looked above the present latest known batch before this one, and found nothing,
 * since its batch last grew: while it fills, what comes next is right above it and no gap.
 */
async function pollsBefore(tx: Transaction, run: NumberedRun, base: number): Promise<number> {
  const { rows } = await tx.execute<{ polls: number }>(sql`
    select count(*)::float8 as polls
    from etl.runs as earlier
    where ${ofFeed(run)}
      and lane = 'live'
      and id < ${run.id}
      and frontier_before = ${base}
      and id > coalesce(
        (
          select max(run_id) from etl.walks
          where ${ofFeed(run)} and batch = ${base} and inserted > 0
        ),
        0
      )
      and exists (
        select from etl.walks
        where run_id = earlier.id and state = 'finished' and batch > ${base}
      )
  `);
  return rows[0]?.polls ?? 0;
}

/** The latest known batch as it was when the run first looked. */
async function baseOf(tx: Transaction, run: NumberedRun, frontier: number): Promise<number> {
  const { rows } = await tx.execute<{ base: string }>(sql`
    update etl.runs set frontier_before = coalesce(frontier_before, ${frontier}::bigint)
    where id = ${run.id}
    returning frontier_before as base
  `);
  return Number(rows[0]?.base ?? frontier);
}

/**
 * How many empty numbers in a row mean that there is no batch up there, while searching. Numbering
 * has gaps: at 3 % of them, three in a row happen once in 37,000 places.
 */
const missRun = 3;
/** How many empty numbers in a row confirm the latest known batch that was found. */
const confirmRun = 8;

/** What is known of batch numbers while the latest known batch is searched. */
export interface FrontierKnowledge {
  /** The lowest number that is wanted. */
  readonly from: number;
  /** The highest number that is known to have blocks; null while none is. */
  readonly hit: number | null;
  /** Numbers that were found empty. */
  readonly misses: ReadonlySet<number>;
}

/**
 * The next batch number to look at in the search for the newest one, or null when it is found:
 * `hit` is the latest known batch then, or there is no batch at all. Gallops upward by doubling steps, halves
 * between the last hit and the first run of misses, and confirms with a longer run, because
 * numbers can be gaps. Pure: the answer to each poll is added to what is known.
 */
export function nextProbe({ from, hit, misses }: FrontierKnowledge): number | null {
  const base = hit ?? from - 1;
  const above = [...misses].filter((number) => number > base).sort((a, b) => a - b);
  const end = above.find((number) => runLength(misses, number) >= missRun);
  const unsure = above.find(
    (number) => number < (end ?? Infinity) && !misses.has(number - 1) && number - 1 !== base,
  );
  if (unsure !== undefined) return unsure + runLength(misses, unsure);
  const atBase = runLength(misses, base + 1);
  if (end === undefined) {
    // Empty numbers right above the last hit end the search only by the longer run.
    return atBase > 0 ? confirm(base, atBase) : base + Math.max(1, base - from + 1);
  }
  return end - base > 1 && atBase === 0
    ? base + Math.floor((end - base) / 2)
    : confirm(base, atBase);
}

const confirm = (base: number, length: number) => (length >= confirmRun ? null : base + 1 + length);

function runLength(misses: ReadonlySet<number>, start: number): number {
  let length = 0;
  while (misses.has(start + length)) length += 1;
  return length;
}

/**
 * Where live runs look when the number right above the latest known batch stays empty: first as wide as the
 * run that confirms a latest known batch, then also by doubling. Numbering goes on behind any gap, so that one
 * of these is met in time; what it passes over is read as history.
 */
const near = Array.from({ length: confirmRun - 1 }, (_, index) => index + 2);
const far = [16, 32, 64, 128, 256, 512];

/**
 * Where above the latest known batch the nth poll goes, from 0: right above it on the first poll and every
 * other one, where the next batch will be, and in between to the numbers behind, in case that one is
 * a gap: 1, 2, 1, 3, 1, 4 … One request a run.
 */
function offsetOf(poll: number): number {
  if (poll % 2 === 0) return 1;
  const turn = (poll - 1) / 2;
  const all = [...near, ...far];
  return near[turn] ?? all[(turn - near.length) % all.length] ?? 1;
}

/*
 * What the list of batches says of their numbers, where the chain's `optimism-batches` is copied too. It
 * reports where to read first, and saves requests; nothing is verified or given up because of it.
 */

/** Numbers above the latest known batch that are requested in one run because the list has them, at most. */
const mostAbove = 1_000;

/** The listed numbers from one on, the lowest first. */
async function listedFrom(
  tx: Pick<Transaction, 'execute'>,
  chainId: number,
  from: number,
): Promise<readonly number[]> {
  const { rows } = await tx.execute<{ number: number }>(sql`
    select batch_number::float8 as number
    from explorer.listed_batches
    where chain_id = ${chainId} and batch_number >= ${from} and removed_at is null
    order by batch_number
    limit ${mostAbove}
  `);
  return rows.map(({ number }) => number);
}

/** The newest number that is listed, if it is not below another; null where none is. */
async function newestListed(
  tx: Pick<Transaction, 'execute'>,
  chainId: number,
  from: number,
): Promise<number | null> {
  const { rows } = await tx.execute<{ number: number | null }>(sql`
    select max(batch_number)::float8 as number
    from explorer.listed_batches
    where chain_id = ${chainId} and batch_number >= ${from} and removed_at is null
  `);
  return rows[0]?.number ?? null;
}

/**
 * As SQL: whether a number is not on the list, where that was read whole. It is a gap then, as far as the
 * list knows: read last, since its neighbours may verify it empty without a request.
 */
export const isSupposedHole = (chainId: number, number: SQL) => sql`(
  ${number} <@ coalesce(
    (
      select covered from etl.feed_coverage
      where feed = ${feedName({ chain_id: chainId, operation: 'optimism-batches' })}
    ),
    '{}'
  )
  and not exists (
    select from explorer.listed_batches
    where chain_id = ${chainId} and batch_number = ${number} and removed_at is null
  )
)`;
