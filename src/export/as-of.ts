import { types, type Pool } from 'pg';
import { plainText } from '../query/value.ts';
import { collect } from './collect.ts';

export interface Moment {
  readonly asOf: string;
  /** What the database's clock says. */
  readonly now: string;
}

/**
 * The time up to which whatever is written is seen by the next statement. A row tells when its transaction
 * began and is seen when that has ended, so it is when the oldest one began that is under way. Who has written
 * nothing for ten minutes only reads: a longer silence ends a transaction of this program (`db/timeouts.ts`).
 * Of sessions of other roles Postgres tells only members of pg_read_all_stats when they began: they are taken
 * for that old, and for an hour old if they have written. So is what a standby has replayed, which tells of none
 * of its primary's. A second more is for those that begin just now.
 */
export async function readAsOf(pool: Pool, signal: AbortSignal): Promise<Moment> {
  const rows = await collect(pool, { text: asOf, values: [] }, signal);
  const [time, now] = (rows[0] ?? []).map((value) =>
    plainText(value ?? '', types.builtins.TIMESTAMPTZ),
  );
  return { asOf: time ?? '', now: now ?? '' };
}

const asOf = `
  select least(
    now(),
    (
      select min(coalesce(
        xact_start,
        now() - case when backend_xid is null then interval '10 minutes' else interval '1 hour' end
      ))
      from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and (
          backend_xid is not null or xact_start > now() - interval '10 minutes'
          or coalesce(state, 'disabled') = 'disabled'
        )
    ),
    (select min(prepared) from pg_prepared_xacts where database = current_database()),
    case when pg_is_in_recovery()
         then coalesce(least(pg_last_xact_replay_timestamp(), now()), now()) - interval '1 hour' end
  ) - interval '1 second', now()`;
