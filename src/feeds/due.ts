import type { Database } from '../db/transaction.ts';
import { kindOf } from '../lists/index.ts';
import type { Occasion, Target } from '../lists/list.ts';
import type { RunScope } from '../lists/tables.ts';
import { isPolledLater } from './recover.ts';

/**
 * Which of the lanes have something to do at a time, as their lists say. What the explorer does not
 * serve is looked at seldom, unless a person asks.
 *
 * @param at the time of day, for what is due by an interval
 */
export async function dueLanes<Lane extends Target>(
  db: Database,
  targets: readonly Lane[],
  occasion: Occasion,
  at: Date,
): Promise<Lane[]> {
  const due: Lane[] = [];
  for (const target of targets) {
    if (occasion !== 'sync' && (await isPolledLater(db, target.lane))) continue;
    if (await kindOf(target.lane.operation).isDue(db, target, occasion, at)) due.push(target);
  }
  return due;
}

/** What a person asked for is read now, whatever its interval. */
export function atOnce(target: Target): RunScope {
  return kindOf(target.lane.operation).atOnce(target);
}
