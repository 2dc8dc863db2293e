import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import type { Random } from '../../simulator/random.ts';
import { eventually } from './process.ts';

/** When a fault comes: after the explorer has received so many more requests. */
interface When {
  /** 0 with a process that was just started: while it prepares the database. */
  readonly requests: number;
  /** So long after them, in ms, or while a transaction that has written rows waits to write its ledger entries. */
  readonly moment: number | 'in-transaction';
}

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
  if (kind < 1) return { requests: 0, moment: random.below(startMs) };
  return { requests, moment: kind < 3 ? 'in-transaction' : random.below(mostAfterMs) };
}

/** Injects faults one after the other, each at its moment. @returns what they return; null if a moment did not come */
export async function playFaults<Result>(
  faults: Iterable<Fault<Result>>,
  scene: Scene,
): Promise<(Result | null)[]> {
  const results: (Result | null)[] = [];
  for (const fault of faults) results.push(await injectFault(fault, scene));
  return results;
}

async function injectFault<Result>(
  { when: { requests, moment }, inject }: Fault<Result>,
  scene: Scene,
): Promise<Result | null> {
  const wanted = scene.requests() + requests;
  scene.slowAfter?.(wanted + slackRequests);
  try {
    if (!(await comes('the moment', scene, async () => scene.requests() >= wanted))) return null;
    if (moment === 'in-transaction') return await injectInTransaction(scene, inject);
    await delay(moment);
    return await inject();
  } finally {
    scene.slowAfter?.(Infinity);
  }
}

/** Waits for something. @returns whether it came before the work ended by itself */
const comes = async (what: string, { isOver }: Scene, poll: () => Promise<boolean>) =>
  (await eventually(`${what} of a fault`, async () => {
    if (await poll()) return 'come';
    return (await isOver()) && 'over';
  })) === 'come';

/** Holds the ledger, so that a writer comes to a halt behind its rows. */
const injectInTransaction = <Result>(scene: Scene, inject: Fault<Result>['inject']) =>
  inTransaction(scene.pool, async (session) => {
    await session.query('lock table etl.pages in share mode');
    const isHalted = await comes('the writer', scene, () => isWriterHalted(scene.pool));
    return isHalted ? await inject() : null;
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
