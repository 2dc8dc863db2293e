import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import { ofFeed } from '../feed.ts';
import type { WalkPlan } from '../list.ts';
import { begunBy, moveFrontier, shown, walkOf } from './begun.ts';
import { nextProbe, offsetOf } from './frontier.ts';
import { listedFrom, newestListed } from './listing.ts';
import type { NumberedTick } from './scope.ts';

/** How many empty numbers in a row end the way upward once a tick has met new batches. */
const holesPassed = 3;

/** The search's next look, one page of one batch; null when the frontier is found or there is none. */
export async function planSearch(
  tx: Transaction,
  tick: NumberedTick,
  from: number,
): Promise<WalkPlan> {
  const { hits, misses, isUnderWay, hasFailed } = shown(await begunBy(tx, tick));
  if (isUnderWay) return 'wait';
  const hit = hits.length === 0 ? null : Math.max(...hits);
  // A look that failed would be asked for again at once; the next tick searches again.
  if (hasFailed) return null;
  const listed = await newestListed(tx, tick.chain_id, Math.max(from, hit ?? 0));
  const isNew = listed !== null && listed !== hit && !misses.includes(listed);
  const found = { from, hit, misses: new Set(misses) };
  // The number that the list ends with, and which has blocks, needs no run of empty ones above it.
  const number = isNew ? listed : hit !== null && hit === listed ? null : nextProbe(found);
  if (number !== null) return walkOf(number, { max_pages: 1, probe: true });
  if (hit !== null) {
    await moveFrontier(tx, tick, hit);
    await tx.execute(sql`update etl.ticks set next_batch = ${hit} where id = ${tick.id}`);
  }
  return null;
}

/** What a live tick has found above the frontier. */
export interface Following {
  /** Where the frontier was when the tick began; what is above it is new. */
  readonly base: number;
  readonly newest: number;
  /** The next look, if there is to be one. */
  readonly look: WalkPlan;
}

/**
 * The live tick's next look above the frontier: one where nothing is new; where something is, on
 * upward past a few holes. A look that fails ends the looking, and says nothing of its number.
 */
export async function follow(
  tx: Transaction,
  tick: NumberedTick,
  frontier: number,
): Promise<Following> {
  const base = await baseOf(tx, tick, frontier);
  const looks = (await begunBy(tx, tick)).filter(({ batch }) => batch > base);
  const { hits, misses, isUnderWay, hasFailed } = shown(looks);
  const newest = Math.max(frontier, ...hits);
  if (isUnderWay) return { base, newest, look: 'wait' };
  if (newest > frontier) await moveFrontier(tx, tick, newest);
  const listed = await listedFrom(tx, tick.chain_id, newest);
  const next = listed.find(
    (number) => number > newest && !looks.some(({ batch }) => batch === number),
  );
  if (!hasFailed && next !== undefined)
    return { base, newest, look: walkOf(next, { probe: true }) };
  // What is new came by the list, which has no more: nobody need look for it.
  if (newest > base && listed.includes(newest)) return { base, newest, look: null };
  // A listed number without blocks says nothing of those that the list does not have.
  const missed = misses.filter((batch) => batch > newest && !listed.includes(batch)).length;
  if (hasFailed || missed >= (newest > base ? holesPassed : 1)) return { base, newest, look: null };
  const offset = looks.every(({ batch }) => listed.includes(batch))
    ? offsetOf(await looksBefore(tx, tick, base))
    : missed + 1;
  return { base, newest, look: walkOf(newest + offset, { probe: true }) };
}

/**
 * How many live ticks have looked above the present frontier before this one, and found nothing,
 * since its batch last grew: while it fills, what comes next is right above it and no hole.
 */
async function looksBefore(tx: Transaction, tick: NumberedTick, base: number): Promise<number> {
  const { rows } = await tx.execute<{ looks: number }>(sql`
    select count(*)::float8 as looks
    from etl.ticks as earlier
    where ${ofFeed(tick)}
      and lane = 'live'
      and id < ${tick.id}
      and next_batch = ${base}
      and id > coalesce(
        (
          select max(tick_id) from etl.walks
          where ${ofFeed(tick)} and batch = ${base} and inserted > 0
        ),
        0
      )
      and exists (
        select from etl.walks
        where tick_id = earlier.id and state = 'finished' and batch > ${base}
      )
  `);
  return rows[0]?.looks ?? 0;
}

/** The frontier as it was when the tick first looked. */
async function baseOf(tx: Transaction, tick: NumberedTick, frontier: number): Promise<number> {
  const { rows } = await tx.execute<{ base: string }>(sql`
    update etl.ticks set next_batch = coalesce(next_batch, ${frontier}::bigint)
    where id = ${tick.id}
    returning next_batch as base
  `);
  return Number(rows[0]?.base ?? frontier);
}
