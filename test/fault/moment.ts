import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { TestDatabase } from '../harness/database.ts';
import { eventually, type Program } from '../harness/process.ts';
import { hangMs } from '../harness/hang.ts';

/** When a process is killed, in terms of what can be seen of its work. */
export type Moment =
  /** So long after it was started: while it prepares the database. */
  | { readonly at: 'start'; readonly afterMs: number }
  /** So long after the explorer has received that many more requests. */
  | { readonly at: 'request'; readonly requests: number; readonly afterMs: number }
  /** While a transaction that has written rows waits to write its ledger entries. */
  | { readonly at: 'write'; readonly requests: number };

/** Longer than a start takes; a later moment of this kind is as good as a request's. */
const startMs = 1_200;
/** Requests before a kill: few, so that a world bears many kills. */
const mostRequests = 12;
/** A few answers' time: the kill falls before, in or after the commit of the last page seen. */
const mostAfterMs = 60;
/** Requests beyond a moment within which every kill falls that is in time. */
const slackRequests = 15;

/** One start in eight is killed early, two in eight in a transaction, the others near a commit. */
export function drawMoment(random: () => number, within = mostRequests): Moment {
  const kind = random() * 8;
  const requests = 1 + Math.floor(random() * within);
  const amount = random();
  if (kind < 1) return { at: 'start', afterMs: Math.round(amount * startMs) };
  if (kind < 3) return { at: 'write', requests };
  return { at: 'request', requests, afterMs: Math.round(amount * mostAfterMs) };
}

/** What a moment is told from. */
export interface Scene {
  readonly database: TestDatabase;
  /** Requests that the explorer has received. */
  readonly requests: () => number;
  /** Whether the work has ended by itself, so that the moment never comes. */
  readonly isOver: () => Promise<boolean>;
  /**
   * Has the explorer answer slowly once it has received so many requests in all; where nothing does,
   * the work may end before one who kills late.
   */
  readonly slowAfter?: (requests: number) => void;
}

/**
 * Waits for a moment and kills the processes at it.
 *
 * @returns whether the moment came, and with it the kill
 */
export async function killAt(
  moment: Moment,
  scene: Scene,
  victims: readonly Pick<Program, 'isRunning' | 'kill'>[],
): Promise<boolean> {
  const before = scene.requests();
  scene.slowAfter?.(before + (moment.at === 'start' ? 0 : moment.requests) + slackRequests);
  try {
    return await killInTime(moment, scene, victims, before);
  } finally {
    scene.slowAfter?.(Infinity);
  }
}

async function killInTime(
  moment: Moment,
  scene: Scene,
  victims: readonly Pick<Program, 'isRunning' | 'kill'>[],
  before: number,
): Promise<boolean> {
  const kill = () => {
    const alive = victims.filter(({ isRunning }) => isRunning);
    for (const victim of alive) victim.kill('SIGKILL');
    return alive.length === victims.length;
  };
  const progress = async () => {
    if (moment.at === 'start') return 'come';
    if (scene.requests() - before >= moment.requests) return 'come';
    return (await scene.isOver()) ? 'over' : null;
  };
  if ((await eventually('a moment to kill', hangMs, progress)) === 'over') return false;
  if (moment.at === 'write') return killInTransaction(scene, kill);
  await delay(moment.afterMs);
  return kill();
}

/** Holds the ledger, so that a writer comes to a halt behind its rows, and kills it there. */
async function killInTransaction(
  { database, isOver }: Scene,
  kill: () => boolean,
): Promise<boolean> {
  const session = await database.pool.connect();
  try {
    await session.query('begin');
    await session.query('lock table etl.pages in share mode');
    const halted = async () => {
      if (await isWriterHalted(database.pool)) return 'halted';
      return (await isOver()) ? 'over' : null;
    };
    const seen = await eventually('a writer to kill', hangMs, halted);
    return seen === 'halted' && kill();
  } finally {
    await session.query('rollback');
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
