import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import type { Random } from '../../simulator/random.ts';
import { eventually } from './process.ts';

/** When a fault comes, in terms of what can be seen of the work. */
export type When =
  /** So long after now: with a process that was just started, while it prepares the database. */
  | { readonly at: 'start'; readonly afterMs: number }
  /** So long after the explorer has received that many more requests. */
  | { readonly at: 'request'; readonly requests: number; readonly afterMs: number }
  /** While a transaction that has written rows waits to write its ledger entries. */
  | { readonly at: 'write'; readonly requests: number };

/** Something that is done to the work, and when. */
export interface Fault<Result> {
  readonly when: When;
  readonly inject: () => Result | Promise<Result>;
}

/** The work that a fault meets. */
export interface Scene {
  readonly pool: Pool;
  /** Requests that the explorer has received. */
  readonly requests: () => number;
  /** Whether the work has ended by itself, so that the moment never comes. */
  readonly isOver: () => Promise<boolean>;
  /**
   * Has the explorer answer slowly once it has received so many requests in all; if nothing does,
   * the work may end before a late fault.
   */
  readonly slowAfter?: (requests: number) => void;
}

/** Longer than a start takes; a later moment of this kind is as good as a request's. */
const startMs = 1_200;
/** Requests before a fault: few, so that a world bears many. */
const mostRequests = 12;
/** A few answers' time: the fault falls before, in or after the commit of the last page seen. */
const mostAfterMs = 60;
/** Requests beyond a moment within which every fault falls that is in time. */
const slackRequests = 15;

/** One in eight comes at a start, two in eight in a transaction, the others near a commit. */
export function drawWhen(random: Random, within = mostRequests): When {
  const kind = random.below(8);
  const requests = 1 + random.below(within);
  if (kind < 1) return { at: 'start', afterMs: random.below(startMs) };
  if (kind < 3) return { at: 'write', requests };
  return { at: 'request', requests, afterMs: random.below(mostAfterMs) };
}

/** Injects faults one after the other, each at its moment. @returns what they return */
export async function playFaults<Result>(
  faults: Iterable<Fault<Result>>,
  scene: Scene,
): Promise<(Result | null)[]> {
  const results: (Result | null)[] = [];
  for (const fault of faults) results.push(await injectFault(fault, scene));
  return results;
}

/** Injects a fault at its moment. @returns what it returns; null if the moment did not come */
export async function injectFault<Result>(
  { when, inject }: Fault<Result>,
  scene: Scene,
): Promise<Result | null> {
  const before = scene.requests();
  const wanted = when.at === 'start' ? 0 : when.requests;
  const progress = async () => {
    if (scene.requests() - before >= wanted) return 'come';
    return (await scene.isOver()) ? 'over' : null;
  };
  scene.slowAfter?.(before + wanted + slackRequests);
  try {
    if ((await eventually('the moment of a fault', progress)) === 'over') return null;
    if (when.at === 'write') return await injectInTransaction(scene, inject);
    await delay(when.afterMs);
    return await inject();
  } finally {
    scene.slowAfter?.(Infinity);
  }
}

/** Holds the ledger, so that a writer comes to a halt behind its rows. */
const injectInTransaction = <Result>(
  { pool, isOver }: Scene,
  inject: Fault<Result>['inject'],
): Promise<Result | null> =>
  inTransaction(pool, async (session) => {
    await session.query('lock table etl.pages in share mode');
    const halted = async () => {
      if (await isWriterHalted(pool)) return 'halted';
      return (await isOver()) ? 'over' : null;
    };
    const seen = await eventually('a writer that waits', halted);
    return seen === 'halted' ? await inject() : null;
  });

/** Does something in a transaction, and takes that back. */
export async function inTransaction<Result>(
  pool: Pool,
  work: (session: PoolClient) => Promise<Result>,
): Promise<Result> {
  const session = await pool.connect();
  try {
    await session.query('begin');
    return await work(session);
  } finally {
    await session.query('rollback').catch(() => undefined);
    session.release();
  }
}

async function isWriterHalted(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query(`
    select from pg_locks
    join pg_stat_activity using (pid)
    where not granted and relation = 'etl.pages'::regclass and datname = current_database()
  `);
  return rows.length > 0;
}
