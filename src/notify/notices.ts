import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { StatusDocument } from '../documents/status.ts';
import type { Pace } from './pace.ts';

type Verdict = StatusDocument['verdict'];
type Writer = Pick<Database, 'execute'>;

/** A change that is to be told now, by whoever was given it. */
export interface Due {
  readonly number: number;
  /** Which attempt this is, from 1. */
  readonly attempt: number;
  /** The verdict that was told last. */
  readonly before: Verdict | null;
}

const ms = (duration: number): SQL => sql`${duration} * interval '1 millisecond'`;

/**
 * Whether it is this process's turn to look: no other one did lately. A clock that was set back would else
 * let nobody look until it is there again.
 */
export async function takeTurn(db: Writer, { lookMs }: Pace): Promise<boolean> {
  const { rows } = await db.execute(sql`
    insert into etl.notices (looked_at) values (clock_timestamp())
    on conflict (id) do update set looked_at = excluded.looked_at
    where notices.looked_at not between excluded.looked_at - ${ms(lookMs * turnShare)}
                                    and excluded.looked_at
    returning id
  `);
  return rows.length > 0;
}

/** A process that comes to its second look a moment early would else lose its turn. */
const turnShare = 0.9;

/** Notes the verdict that holds as of a time. One that is another than before begins to stand. */
export async function noteSeen(db: Writer, kind: Verdict['kind'], asOf: string): Promise<void> {
  await db.execute(sql`
    update etl.notices
    set as_of = ${asOf},
        seen = ${kind},
        seen_since = case when seen = ${kind} then seen_since else ${asOf} end,
        attempts = case when seen = ${kind} then attempts else 0 end,
        next_attempt_at = case when seen = ${kind} then next_attempt_at end
    where as_of is null or as_of < ${asOf} or as_of > clock_timestamp()
  `);
}

/**
 * Gives the change that is to be told to one process alone: what was told last differs from what has stood
 * for long enough. Whoever is given it has until the next attempt to settle it; after a kill another one is
 * given it then.
 *
 * @returns null where nothing is to be told now
 */
export async function takeDue(db: Writer, kind: Verdict['kind'], pace: Pace): Promise<Due | null> {
  const { rows } = await db.execute<{ due: Due }>(sql`
    update etl.notices
    set attempts = attempts + 1,
        number = number + case when attempts = 0 then 1 else 0 end,
        next_attempt_at = clock_timestamp()
          + least(${ms(pace.firstRetryMs)} * 2 ^ attempts, ${ms(pace.longestRetryMs)})
    where seen = ${kind} and told ->> 'kind' is distinct from seen
      and seen_since <= as_of - ${ms(pace.holdMs)}
      and attempts < ${pace.mostAttempts}
      and (told_at is null or told_at <= clock_timestamp() - ${ms(pace.restMs)})
      and (next_attempt_at is null or next_attempt_at <= clock_timestamp())
    returning json_build_object('number', number, 'attempt', attempts, 'before', told) as due
  `);
  return rows[0]?.due ?? null;
}

/** Notes that a change was delivered. A newer one has a number of its own and stays due. */
export async function settle(db: Writer, number: number, told: Verdict): Promise<void> {
  await db.execute(sql`
    update etl.notices
    set told = ${JSON.stringify(told)}::jsonb, told_at = clock_timestamp(), next_attempt_at = null
    where number = ${number}
  `);
}

/**
 * Notes that a process told so long ago, by itself, that the database was away; unless something was told
 * since, or is being told by whoever has it. What holds now is a change then.
 */
export async function noteToldAway(db: Writer, away: Verdict, agoMs: number): Promise<void> {
  await db.execute(sql`
    update etl.notices
    set told = ${JSON.stringify(away)}::jsonb, told_at = clock_timestamp() - ${ms(agoMs)}, attempts = 0,
        next_attempt_at = null
    where (told_at is null or told_at < clock_timestamp() - ${ms(agoMs)})
      and (next_attempt_at is null or next_attempt_at <= clock_timestamp())
  `);
}

/** Takes a change up again that was given up: whoever is asked from now on has not refused it. */
export async function takeUpAgain(db: Writer, { mostAttempts }: Pace): Promise<void> {
  await db.execute(sql`
    update etl.notices set attempts = 0, next_attempt_at = null
    where attempts >= ${mostAttempts} and told ->> 'kind' is distinct from seen
  `);
}
