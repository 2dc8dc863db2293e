import { hostname } from 'node:os';
import { eq, sql } from 'drizzle-orm';
import * as presence from '../db/presence.ts';
import { workers } from '../db/tables.ts';
import { execute, type Database, type Queryable, transact } from '../db/transaction.ts';
import type { KeyLimits } from '../explorer/key.ts';
import { packageVersion } from '../package-file.ts';
import { z } from 'zod';

// Who works: the processes, and the lanes that they hold.

/** How often a process is seen, in ms. */
export const beatMs = 3_000;

const isSeen = sql.raw(presence.isSeen);

/** As SQL: the rows of `etl.workers` whose process lives. */
export const workersPresent = sql.raw(presence.workersPresent);

/** As SQL: whether the process that works on a lane is gone. */
export const isLost = sql`
  (worker is not null and worker not in (select id from (${workersPresent}) as present))`;

/** The processes that work on a database until they are stopped (`start`), or once (`sync`, `backfill`, `repair`). */
const workersShape = () => z.object({ start: z.number(), once: z.number() });
export type Workers = Readonly<z.infer<ReturnType<typeof workersShape>>>;

/** Who works now, of any deployment or of one. */
export const presentWorkers = (db: Queryable, deployment: string | null = null): Promise<Workers> =>
  execute(db).one(workersShape)`
    select count(*) filter (where kind = 'start')::int as start,
           count(*) filter (where kind = 'once')::int as once
    from (${workersPresent}) as present
    where ${deployment}::text is null or deployment = ${deployment}
  `;

/** A process that works. */
export interface Worker {
  /** Of the process, so that it is not missed if it begins again. */
  readonly workerId: string;
  readonly kind: keyof Workers;
  /** Whose file it follows; null: it has none. */
  readonly deployment: string | null;
  readonly limits: KeyLimits;
}

/**
 * With each `beat` shows that a process works, makes the lowest limits of shared keys hold, and notes processes that fell
 * silent: once for all, and only after it was seen itself for as long, since an outage silences all of them.
 */
export function openPresence(db: Database, { workerId: id, kind, deployment, limits }: Worker) {
  const own = JSON.stringify(limits);
  let postmaster: string | null = null;
  let beats = 0;
  /** @returns whether a lane was lost with its process */
  const beat = async (): Promise<boolean> => {
    const before = beats;
    beats = 0;
    const isRegular = before * beatMs >= 1000 * presence.silenceSeconds;
    const seen = await execute(db).one(() =>
      z.object({ was_seen: z.boolean(), postmaster: z.string(), is_lost: z.boolean() }),
    )`
      with known as (
        select ${isSeen} as was_seen from etl.workers where id = ${id}
      ), seen as (
        insert into etl.workers (id, kind, deployment, host, version, limits)
        values (${id}, ${kind}, ${deployment}, ${hostname()}, ${packageVersion()}, ${own}::jsonb)
        on conflict (id) do update set seen_at = excluded.seen_at
      ), lowest as (
        select key, min((value ->> 'requests_per_second')::float8) as rate,
               min((value ->> 'daily_credits')::bigint) as credits
        from (
          select limits from (${workersPresent}) as present where id <> ${id}
          union all select ${own}::jsonb
        ) as stated, jsonb_each(limits)
        group by key
      ), limited as (
        update etl.budget set requests_per_second = rate, daily_credits = credits
        from lowest
        where key_fingerprint = key
          and (requests_per_second, daily_credits) is distinct from (rate, credits)
      ), silent as (
        delete from etl.workers
        where ${isRegular} and (select was_seen from known) and id <> ${id} and not ${isSeen}
        returning seen_at
      ), noted as (
        insert into etl.events (at, kind, sentence)
        select seen_at, 'killed', ${`A worker was killed, or cut off from the database for ${presence.silenceSeconds} s. Others continue its work.`}
        from silent
      )
      select coalesce((select was_seen from known), false) as was_seen,
             pg_postmaster_start_time()::text as postmaster,
             exists (select from etl.lanes where ${isLost}) as is_lost
    `;
    const isBack = postmaster !== null && (!seen.was_seen || postmaster !== seen.postmaster);
    ({ postmaster } = seen);
    if (isBack) await noteReturn(db);
    else beats = before + 1;
    return seen.is_lost;
  };
  return { beat, close: () => db.delete(workers).where(eq(workers.id, id)) };
}

/** Notes that connections were lost and are back: what several processes lose together is one event. */
const noteReturn = (db: Database) =>
  transact(db, async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('connection-lost'))`);
    await tx.execute(sql`
      insert into etl.events (kind, sentence)
      select 'connection-lost', case
          when pg_postmaster_start_time() > clock_timestamp() - interval '1 minute'
            then 'Postgres restarted. Workers have connected again.'
          else 'A worker lost its connection to the database, and has connected again.'
        end
      where not exists (
        select from etl.events
        where kind = 'connection-lost' and at > clock_timestamp() - interval '30 seconds'
      )
    `);
  });

/** The work on a lane's open run. */
export const laneWorkShape = () =>
  z.object({
    /** Whether the worker that has it is present; null: it waits for one. */
    is_held: z.boolean().nullable(),
    /** When it is due, ISO 8601; null: it is. */
    until: z.string().nullable(),
    /** Since it was due, or taken, in seconds. */
    age_s: z.number(),
  });
export type LaneWork = Readonly<z.infer<ReturnType<typeof laneWorkShape>>>;

/** As SQL: the `LaneWork` of a row of `etl.lanes`; null: it has no open run, or was released. */
export const laneWork = sql`
  case when coalesce(taken_at, due_at) is not null then json_build_object(
    'is_held', case when worker is not null then not ${isLost} end,
    'until', case when worker is null and due_at > clock_timestamp() then due_at end,
    'age_s', extract(epoch from clock_timestamp() - coalesce(taken_at, due_at))
  ) end`;

/** The deployments that want feeds, with the `start` processes that follow each. */
export const readDeployments = (db: Queryable) =>
  execute(db).rows(() => z.object({ name: z.string(), feeds: z.number(), workers: z.number() }))`
    select deployment as name, count(distinct feed)::int as feeds, (
      select count(*)::int from (${workersPresent}) as present
      where present.deployment = wanted.deployment and kind = 'start'
    ) as workers
    from etl.lanes, unnest(wanted_by) as wanted(deployment)
    group by deployment
    order by deployment
  `;
