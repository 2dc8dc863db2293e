import { sql, type SQL } from 'drizzle-orm';
import { execute, type Database } from '../db/transaction.ts';
import type { FeedLane } from '../lists/feed.ts';

// What readers see of the work: the processes, the lanes they hold, and the schedules.

/** First halves of the locks of processes and of lanes: 'etlw' and 'etll' in ASCII. */
export const locks = { process: 0x65_74_6c_77, lane: 0x65_74_6c_6c } as const;
/** Processes work until they are stopped (`start`), or once (`sync`, `backfill`, `repair`). */
export const posts = { start: 1, once: 2 } as const;

/** This database's locks that workers hold; who tests whether one is free takes it exclusively. */
const shared = sql`
  select classid, objid, pid from pg_locks
  where locktype = 'advisory' and granted and objsubid = 2 and mode = 'ShareLock'
    and database = (select oid from pg_database where datname = current_database())`;

/** As SQL: the rows of `etl.workers` whose process lives. Only the primary shows it. */
export const workersPresent = sql`
  select * from etl.workers
  where backend in (select pid from (${shared}) as shared where classid = ${locks.process})`;

/** The processes that work on a database. */
export type Workers = Readonly<Record<keyof typeof posts, number>>;

/** Who works now. Only the primary shows it. */
export async function presentWorkers(db: Pick<Database, 'execute'>): Promise<Workers> {
  const present = await execute(db).row<Workers>`
    select count(*) filter (where objid = ${posts.start})::int as start,
           count(*) filter (where objid = ${posts.once})::int as once
    from (${shared}) as shared where classid = ${locks.process}
  `;
  return present ?? { start: 0, once: 0 };
}

/** A lane's open run: a worker has it, it waits for one, it is not due yet, or its worker is gone. */
export interface LaneHolder {
  readonly is: 'held' | 'queued' | 'resting' | 'lost';
  /** ISO 8601; of a resting one, when it is due. */
  readonly until: string | null;
  /** Since it was due, or taken up, in seconds. */
  readonly age_s: number;
}

/** As SQL: the `LaneHolder` of a row of `etl.runs`; null: it is closed, or was released. */
export const laneHolder = (run: SQL): SQL => sql`
  case when ${run}.state = 'open' and coalesce(${run}.taken_up_at, ${run}.due_at) is not null
    then json_build_object(
      'is', case
        when ${run}.taken_up_at is null and ${run}.due_at > clock_timestamp() then 'resting'
        when ${run}.taken_up_at is null then 'queued'
        when (${locks.lane}, hashtext(${run}.feed || '/' || ${run}.lane)::bigint & 4294967295)
          in (select classid::bigint, objid::bigint from (${shared}) as shared) then 'held'
        else 'lost'
      end,
      'until', case
        when ${run}.taken_up_at is null and ${run}.due_at > clock_timestamp() then ${run}.due_at
      end,
      'age_s', extract(epoch from clock_timestamp() - coalesce(${run}.taken_up_at, ${run}.due_at))
    )
  end`;

/** The deployments that want feeds, with the `start` processes that follow each. */
export const readDeployments = (db: Pick<Database, 'execute'>) =>
  execute(db).rows<{ name: string; feeds: number; workers: number }>`
    select deployment as name, count(distinct feed)::int as feeds, (
      select count(*)::int from (${workersPresent}) as present
      where present.deployment = wished.deployment and kind = 'start'
    ) as workers
    from etl.lanes, unnest(wanted_by) as wished(deployment)
    group by deployment
    order by deployment
  `;

/** When a lane is polled by `start`, and next. */
export interface LaneTimes {
  readonly lane: FeedLane;
  readonly cron: string;
  readonly timezone: string;
  readonly next: string;
}

/** The schedules of lanes that `start` polls. */
export const schedulesSet = (db: Pick<Database, 'execute'>) =>
  execute(db).rows<LaneTimes>`
    select json_build_object('chain_id', chain_id, 'operation', operation, 'lane', lane) as lane,
           settings ->> 'schedule' as cron, settings ->> 'timezone' as timezone,
           next_due_at::text as next
    from etl.lanes join etl.feeds using (feed)
    where next_due_at is not null
  `;
