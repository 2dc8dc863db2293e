import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import { nextProbe } from './frontier.ts';
import type { Scope } from '../operations/operation.ts';
import type { PlannedWalk } from './sweep.ts';
import type { TickRow } from './tick.ts';

/** Numbers are probed one after the other: the next depends on what the last one showed. */
export type BatchPlan = PlannedWalk | 'wait' | null;

/** How far above the frontier live ticks look: as wide as the run that confirms a frontier. */
const lookAhead = 8;

/**
 * Where above the frontier the nth look goes: right above it every other time, where the next batch
 * will be, and in between to the numbers behind, in case that one is a hole. One request a tick.
 */
const offsetOf = (look: number) => (look % 2 === 0 ? 1 : 2 + (((look - 1) / 2) % (lookAhead - 1)));

/** How many empty numbers in a row end the way upward once a tick has met new batches. */
const holesPassed = 3;

const walkOf = (batch: number, how: Omit<Scope, 'batch'> = {}): PlannedWalk => ({
  scope: { batch, ...how },
  floor: null,
  cursor: null,
});

/**
 * The backfill lane's next walk, from the top of the range down: without a last number that is the
 * frontier, which is searched first.
 */
export async function planBackfillBatch(tx: Transaction, tick: TickRow): Promise<BatchPlan> {
  const from = tick.scope.from_batch ?? 1;
  if (tick.scope.to_batch === undefined && (await frontierOf(tx, tick)) === null) {
    const probe = await planProbe(tx, tick, from);
    if (probe !== null) return probe;
  }
  const next = await nextUnread(tx, tick, from);
  return next === null ? null : walkOf(next);
}

/**
 * The live lane's next walk: a look above the frontier, on upward while there are new batches, then
 * those of the new ones that are unread, then the newest `reread` ones again, since a batch can be
 * seen while it fills.
 */
export async function planLiveBatch(tx: Transaction, tick: TickRow): Promise<BatchPlan> {
  const frontier = await frontierOf(tx, tick);
  if (frontier === null) return null;
  const base = await baseOf(tx, tick, frontier);
  const begun = await begunBy(tx, tick);
  const probes = begun.filter(({ batch }) => batch > base);
  if (probes.some(({ state }) => state === 'running')) return 'wait';
  const newest = Math.max(frontier, ...probes.filter(({ items }) => items > 0).map((w) => w.batch));
  if (newest > frontier) await moveFrontier(tx, tick, newest);
  const misses = probes.filter(({ batch, items }) => items === 0 && batch > newest).length;
  // Where nothing is new one look is enough; where something is, holes may stand in between.
  if (misses < (newest > base ? holesPassed : 1)) {
    const offset = probes.length === 0 ? offsetOf(await looksBefore(tx, tick)) : misses + 1;
    return walkOf(newest + offset, { probe: true });
  }
  const known = new Set(begun.map(({ batch }) => batch));
  const rest = [
    ...range(newest, base + 1),
    ...(await newestBatches(tx, tick, tick.scope.reread ?? 0)),
  ];
  const next = rest.find((batch) => !known.has(batch));
  return next === undefined ? null : walkOf(next);
}

/** From `high` down to `low`, both included. */
const range = (high: number, low: number) =>
  Array.from({ length: Math.max(0, high - low + 1) }, (_, index) => high - index);

const ofFeed = ({ chain_id, operation }: TickRow) =>
  sql`chain_id = ${chain_id} and operation = ${operation}`;

async function frontierOf(tx: Transaction, tick: TickRow): Promise<number | null> {
  const { rows } = await tx.execute<{ frontier: string | null }>(
    sql`select frontier from etl.feeds where ${ofFeed(tick)}`,
  );
  const frontier = rows[0]?.frontier ?? null;
  return frontier === null ? null : Number(frontier);
}

async function moveFrontier(tx: Transaction, tick: TickRow, frontier: number): Promise<void> {
  await tx.execute(sql`update etl.feeds set frontier = ${frontier} where ${ofFeed(tick)}`);
}

/** How many live ticks the feed has had before this one. */
async function looksBefore(tx: Transaction, tick: TickRow): Promise<number> {
  const { rows } = await tx.execute<{ looks: number }>(sql`
    select count(*)::float8 as looks
    from etl.ticks
    where ${ofFeed(tick)} and lane = 'live' and id < ${tick.id}
  `);
  return rows[0]?.looks ?? 0;
}

/** Where the frontier was when the tick began; what is above it is new. */
async function baseOf(tx: Transaction, tick: TickRow, frontier: number): Promise<number> {
  const { rows } = await tx.execute<{ base: string }>(sql`
    update etl.ticks set next_batch = coalesce(next_batch, ${frontier}::bigint)
    where id = ${tick.id}
    returning next_batch as base
  `);
  return Number(rows[0]?.base ?? frontier);
}

/** The search's next look, one page of one batch; null when the frontier is found or there is none. */
async function planProbe(tx: Transaction, tick: TickRow, from: number): Promise<BatchPlan> {
  const begun = await begunBy(tx, tick);
  if (begun.some(({ state }) => state === 'running')) return 'wait';
  const hits = begun.filter(({ items }) => items > 0).map(({ batch }) => batch);
  const hit = hits.length === 0 ? null : Math.max(...hits);
  const misses = new Set(begun.filter(({ items }) => items === 0).map(({ batch }) => batch));
  const number = nextProbe({ from, hit, misses });
  if (number !== null) return walkOf(number, { max_pages: 1, probe: true });
  if (hit !== null) {
    await moveFrontier(tx, tick, hit);
    await tx.execute(sql`update etl.ticks set next_batch = ${hit} where id = ${tick.id}`);
  }
  return null;
}

interface BegunBatch extends Record<string, unknown> {
  readonly batch: number;
  readonly state: string;
  readonly items: number;
}

async function begunBy(tx: Transaction, tick: TickRow): Promise<BegunBatch[]> {
  const { rows } = await tx.execute<BegunBatch>(sql`
    select batch::float8 as batch, state, items::float8 as items
    from etl.walks
    where tick_id = ${tick.id}
  `);
  return rows;
}

async function newestBatches(tx: Transaction, tick: TickRow, count: number): Promise<number[]> {
  const { rows } = await tx.execute<{ batch: number }>(sql`
    select batch_number::float8 as batch
    from explorer.optimism_batches
    where chain_id = ${tick.chain_id} and blocks_count > 0
    order by batch_number desc
    limit ${count}
  `);
  return rows.map(({ batch }) => batch);
}

/**
 * The highest number at or below the tick's pointer that is to be read: each one, or those that were
 * never read to their end. Moves the pointer below it.
 */
async function nextUnread(tx: Transaction, tick: TickRow, from: number): Promise<number | null> {
  const readsAgain = tick.scope.only_unread !== true;
  const { rows } = await tx.execute<{ batch: string }>(sql`
    with pointer as (
      select coalesce(ticks.next_batch, feeds.frontier) as top
      from etl.ticks
      join etl.feeds using (chain_id, operation)
      where ticks.id = ${tick.id}
    ), next as (
      select number
      from pointer, generate_series(top, ${from}::bigint, -1) as number
      where ${readsAgain} or not exists (
        select from explorer.optimism_batches
        where chain_id = ${tick.chain_id} and batch_number = number
      )
      limit 1
    )
    update etl.ticks
    set next_batch = number - 1
    from next
    where id = ${tick.id}
    returning number as batch
  `);
  return rows[0] === undefined ? null : Number(rows[0].batch);
}
