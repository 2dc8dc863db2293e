import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import { ofFeed } from '../feed.ts';
import type { WalkPlan } from '../list.ts';
import type { NumberedWalk } from '../operation.ts';
import { nextProbe, offsetOf } from './frontier.ts';
import { listedFrom, newestListed } from './listing.ts';
import type { NumberedRun } from './scope.ts';
import { begunBy, moveFrontier, shown, walkOf } from './walks.ts';

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
