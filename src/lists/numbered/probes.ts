import { sql } from 'drizzle-orm';
import { execute, type Queryable, type Transaction } from '../../db/transaction.ts';
import { type Feed, ofFeed } from '../feed.ts';
import { isOf, type NumberedRun, type Planned, type Shown, shownBy, walkOf } from './walks.ts';
import { z } from 'zod';

/** How many empty numbers in a row end the way upward, if a run has met new batches. */
const gapsPassed = 3;

/** The search's next probe, one page of one batch; null: the latest batch is found, or there is none. */
export async function planSearch(tx: Transaction, run: NumberedRun, from: number): Planned {
  const { hits, misses, isRunning, hasFailed } = await shownBy(tx, run);
  if (isRunning) return 'wait';
  const hit = hits.length === 0 ? null : Math.max(...hits);
  // A poll that failed would be requested again at once; the next run searches again.
  if (hasFailed) return null;
  const [listed = null] = await listedFrom(tx, run, Math.max(from, hit ?? 0));
  const isNew = listed !== null && listed !== hit && !misses.includes(listed);
  const found = { from, hit, misses: new Set(misses) };
  // If the list's last number has blocks, no empty numbers above need to confirm it.
  const number = isNew ? listed : hit !== null && hit === listed ? null : nextProbe(found);
  if (number !== null) return walkOf(number, { max_pages: 1, probe: true });
  if (hit !== null) await moveLatestBatch(tx, run, hit);
  return null;
}

/**
 * The live run's next probe above the latest batch, after the one under way; a failed probe ends it. `base`: the latest
 * known batch when the run began, or a lower one that it fell to since; what is above it is new.
 */
export async function follow(tx: Transaction, run: NumberedRun, latest: number) {
  const { base } = await execute(tx).one(() => z.object({ base: z.number() }))`
    update etl.runs set latest_batch_before = least(latest_batch_before, ${latest}::bigint)
    where id = ${run.id}
    returning latest_batch_before::float8 as base
  `;
  const shown = await shownBy(tx, run, base);
  const newest = Math.max(latest, ...shown.hits);
  if (shown.isRunning) return { base, newest, poll: 'wait' as const };
  await moveLatestBatch(tx, run, newest);
  // Known blocks under ever new numbers would lead on without end.
  const isOver = shown.hasFailed || shown.repeats >= gapsPassed;
  const number = isOver ? null : await nextAbove(tx, run, base, newest, shown);
  return { base, newest, poll: number === null ? null : walkOf(number, { probe: true }) };
}

/**
 * The next number to probe above the newest batch: past a few gaps if one is new, each number once
 * a run, since a batch can be listed before its blocks are there. Null: there is none.
 */
async function nextAbove(
  tx: Transaction,
  run: NumberedRun,
  base: number,
  newest: number,
  { begun, misses }: Shown,
): Promise<number | null> {
  const isNew = newest > base;
  const listed = await listedFrom(tx, run, newest);
  const above = listed.filter((number) => number > newest).toReversed();
  // The first few listed ones and the last show that none is indexed yet.
  const next = [...above.slice(0, gapsPassed), ...above.slice(-1)].find(
    (number) => !begun.includes(number),
  );
  if (next !== undefined) return next;
  // The list reported the new batches and has no more: no other number is requested.
  if (isNew && listed.includes(newest)) return null;
  // A listed number without blocks says nothing about unlisted numbers.
  const missed = misses.filter((batch) => batch > newest && !listed.includes(batch)).length;
  if (missed >= (isNew ? gapsPassed : 1)) return null;
  if (!isNew) {
    const number = nextOfPolls(newest, await probedBefore(tx, run, base));
    return begun.includes(number) ? null : number;
  }
  let number = newest + 1;
  while (begun.includes(number) || listed.includes(number)) number += 1;
  return number;
}

/** The numbers above the newest batch that earlier runs have probed for nothing since it last grew, with the last of these runs. */
async function probedBefore(tx: Transaction, run: NumberedRun, base: number) {
  const probes = await execute(tx).rows(() => z.object({ batch: z.number(), run: z.number() }))`
    select batch::float8 as batch, max(run_id)::float8 as run
    from etl.walks
    where ${ofFeed(run)} and lane = 'live' and run_id < ${run.id} and state = 'finished' and batch > ${base}
      and run_id > coalesce((
        select max(run_id) from etl.walks where ${ofFeed(run)} and batch = ${base} and inserted > 0
      ), 0)
    group by batch
  `;
  return new Map(probes.map((probe) => [probe.batch, probe.run]));
}

/** Empty numbers in a row that end a search: at 3 % of gaps, three happen once in 37,000 places. */
const missRun = 3;
/** How many empty numbers in a row confirm the latest known batch that was found. */
const confirmRun = 8;

interface ProbeKnowledge {
  readonly from: number;
  /** The highest number that is known to have blocks; null while none is. */
  readonly hit: number | null;
  readonly misses: ReadonlySet<number>;
}

/** The next number to probe for the newest batch; null: it is `hit`, or there is none. Gallops upward, then halves. */
export function nextProbe({ from, hit, misses }: ProbeKnowledge): number | null {
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

/** Behind the next number, what is probed while that stays empty: numbering goes on behind any gap. */
const offsets = [2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 128, 256, 512];

/**
 * Where a poll goes above the newest batch, of the runs that probed a number last: each second one to the next number, the
 * others where none has been for longest, nearest first: 1, 2, 1, 3, 1, 4 …
 */
export function nextOfPolls(newest: number, probed: ReadonlyMap<number, number>): number {
  const lastProbe = (number: number) => probed.get(number) ?? 0;
  const [next, farther] = [newest + 1, offsets.map((offset) => newest + offset)];
  const [oldest = next] = farther.toSorted((a, b) => lastProbe(a) - lastProbe(b));
  return lastProbe(next) <= Math.max(...farther.map(lastProbe)) ? next : oldest;
}

/** Most listed numbers that are looked at: further down, `planUnread` reads what was passed. */
const mostListed = 1_000;

/**
 * The newest listed numbers that are not below another, nor above what the newest read of the list met; highest first. The
 * list shows where to read; it verifies nothing.
 */
const listedFrom = (tx: Queryable, feed: Feed, from: number) =>
  execute(tx).values(z.number)`
    select batch_number::float8
    from etl.batch_listings
    where ${isOf(feed)} and batch_number >= ${from}
      and (batch_number > (select highest from etl.listing_heads where ${isOf(feed)})) is not true
    order by batch_number desc
    limit ${mostListed}
  `;

/** Moves the latest batch up, or down from a number that has no blocks any more: see `latestBatchOf`. */
const moveLatestBatch = (tx: Transaction, run: NumberedRun, latest: number) =>
  tx.execute(sql`
    update etl.feeds set latest_batch = ${latest}
    where ${ofFeed(run)} and latest_batch is distinct from ${latest}::bigint
  `);
