import { sql } from 'drizzle-orm';
import type { Pool } from 'pg';
import { type ConstructorOptions, fromDrizzle, type JobWithMetadata, PgBoss } from 'pg-boss';
import { describeDatabaseError } from '../db/failure.ts';
import { connectionConfig, type ConnectionOptions, workTimeouts } from '../db/pool.ts';
import { silenceSeconds } from '../db/presence.ts';
import { execute, type Database, transact, type Transaction } from '../db/transaction.ts';
import { type FailureRule, failures } from '../failure.ts';
import { type FeedLane, laneName, laneOfRow, ofLane, feedLaneShape } from '../lists/feed.ts';
import type { Target } from '../lists/list.ts';
import type { Log } from '../log.ts';
import { dependencyVersion } from '../package-file.ts';
import { signals } from '../signals.ts';
import { type OpenedRun, openRun } from './runs.ts';
import { z } from 'zod';

/** A slice of a lane's work. At most one job for each lane, queued or active. */
export const sliceQueue = 'slices';

/** Connections of pg-boss's own pool: one statement fetches for all slices. */
export const bossConnections = 2;

type Connecting = Omit<ConnectionOptions, 'max' | 'applicationName' | 'settings'>;

/** Starts pg-boss on its own pool, which takes a connection for each statement and closes it when `query_timeout` passes. */
async function openBoss(
  { dbTimeouts = workTimeouts, ...way }: Connecting,
  rights: Pick<ConstructorOptions, 'migrate' | 'createSchema'>,
  onError: (error: Error) => void,
): Promise<PgBoss> {
  const own = { max: bossConnections, applicationName: 'explorer-etl jobs' };
  const boss = new PgBoss({
    ...connectionConfig({ ...way, ...own, dbTimeouts }),
    ...rights,
    schema: 'pgboss',
    // Its timer follows the clock of the machine; workers ask for it when they miss one.
    supervise: false,
    monitorIntervalSeconds: 1,
    // Its warnings have no listener here, and finished jobs are deleted within the hour.
    monitorVacuum: false,
    // No job waits for another.
    flowIntervalSeconds: 3600,
    schedule: false,
  });
  boss.on('error', onError);
  try {
    await boss.start();
  } catch (error) {
    // A start that fails half-way leaves timers and a listener, which would keep the process alive for ever.
    await boss.stop({ graceful: false });
    throw error;
  }
  return boss;
}

/** pg-boss on an installed schema: it creates and migrates nothing, so it needs no right to. `report` gets its failures. */
export const startBoss = ({
  log,
  report,
  ...way
}: Connecting & { readonly log: Log; readonly report?: (error: unknown) => void }) =>
  openBoss(way, { migrate: false, createSchema: false }, (error) => {
    // pg-boss reports a lost connection here and reconnects by itself.
    log.write('queue.failure', { error: describeDatabaseError(error) });
    report?.(error);
  });

const sliceOptions = {
  heartbeatSeconds: silenceSeconds,
  // A slice that ends so many workers waits until `start` looks at open runs again.
  retryLimit: 1_000,
  // A slice ends by its own budget within seconds; this is the last resort against a job that hangs.
  expireInSeconds: 3600,
  // Finished jobs say nothing that the ledger does not; kept to be inspected.
  deleteAfterSeconds: 3600,
};

/** What the schema says of itself once the queue is made. */
const made = `Jobs of explorer-etl, by pg-boss ${dependencyVersion('pg-boss')}: ${JSON.stringify(sliceOptions)}`;

/** Whether the queue was made by this version of pg-boss, with these options. */
export async function hasQueues(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query(
    `select where obj_description(to_regnamespace('pgboss'), 'pg_namespace') = $1`,
    [made],
  );
  return rows.length > 0;
}

/** Installs or migrates pg-boss's schema and our queue; several processes may. Each transaction is one message, for poolers. */
export async function installQueues({ url, pool }: { url: string; pool: Pool }): Promise<void> {
  let failure: Error | null = null;
  const boss = await openBoss({ url, isPooled: true }, {}, (error) => void (failure = error));
  try {
    await boss.createQueue(sliceQueue, { policy: 'exclusive', ...sliceOptions });
    await boss.updateQueue(sliceQueue, sliceOptions);
  } finally {
    await boss.stop({ graceful: false });
  }
  if (failure !== null) throw failure;
  await pool.query(`comment on schema pgboss is '${made}'`);
}

/** Opens a lane's run and queues its slice now. Null: a run with other bounds is open, and `onOther` lets it go first. */
export async function openLane(
  db: Database,
  boss: PgBoss,
  { lane, scope }: Target,
  onOther: 'supersede' | 'yield' = 'supersede',
): Promise<OpenedRun | null> {
  const run = await transact(db, async (tx) => {
    const opened = await openRun(tx, lane, scope, onOther);
    if (opened !== null) await queueSlice(boss, tx, lane, 'now');
    return opened;
  });
  signals.emit('queued');
  return run;
}

/** Queues a slice of a lane that has an open run, unless one is queued or active; `now`: also one that backs off. */
export async function queueSlice(
  boss: PgBoss,
  tx: Transaction,
  lane: FeedLane,
  when: 'now' | 'in turn',
): Promise<void> {
  if (!(await hasOpenRun(tx, lane))) return;
  // One that was released shows no time, but its job may rest.
  const isDue = await execute(tx).has`
    update etl.lanes set due_at = clock_timestamp()
    where ${ofLane(lane)} and worker is null and (${when === 'now'} or due_at is null)
    returning feed
  `;
  if (when === 'now' || isDue) {
    const how = { singletonKey: laneName(lane), startAfter: 0, ...within(tx) };
    await boss.update(sliceQueue, undefined, how);
  }
  await sendSlice(boss, tx, lane);
}

/** Queues the open runs of lanes that a process works on: a queue that was restored or made again has no job of them. */
export async function takeUp(
  { db, boss }: Pick<SliceWork, 'db' | 'boss'>,
  works: (lane: FeedLane) => boolean,
): Promise<void> {
  const open = await execute(db).values(feedLaneShape)`
    select ${laneOfRow}
    from etl.runs join etl.lanes using (feed, lane)
    where state = 'open' and paused_at is null
    order by feed, lane
  `;
  for (const lane of open) {
    if (works(lane)) await transact(db, (tx) => queueSlice(boss, tx, lane, 'in turn'));
  }
}

const hasOpenRun = (tx: Transaction, lane: FeedLane) =>
  execute(tx).has`select from etl.runs where ${ofLane(lane)} and state = 'open'`;

const within = (tx: Transaction) => ({ db: fromDrizzle(tx, sql) });

const classesOf = (isOne: (rule: FailureRule) => boolean) =>
  Object.entries<FailureRule>(failures).flatMap(([name, rule]) => (isOne(rule) ? [name] : []));

const classes = {
  host: classesOf(({ isOfHost }) => isOfHost === true),
  key: classesOf(({ stops }) => stops === 'key'),
};

/** Ends the waits of lanes that an explorer or a key made wait: it answers again, or a process with another key begins. */
export async function wakeLanes(
  db: Database,
  boss: PgBoss,
  origin: string,
  by: keyof typeof classes,
): Promise<void> {
  await transact(db, async (tx) => {
    const waiting = await execute(tx).values(feedLaneShape)`
      with waiting as (
        select feed as of_feed, lanes.lane as of_lane, due_at
        from etl.lanes join etl.feeds using (feed)
        where origin = ${origin} and failure = any(${sql.param(classes[by])}::text[])
          and worker is null and due_at > clock_timestamp()
        order by feed, lanes.lane
        for update of lanes
      )
      update etl.runs
      set waited_ms = greatest(0, waited_ms - 1000 * extract(epoch from due_at - clock_timestamp()))
      from waiting
      where (feed, lane, state) = (of_feed, of_lane, 'open')
      returning ${laneOfRow}
    `;
    for (const lane of waiting) await queueSlice(boss, tx, lane, 'now');
  });
  signals.emit('queued');
}

async function sendSlice(
  boss: PgBoss,
  tx: Transaction,
  { chain_id, operation, lane }: FeedLane,
  afterMs = 0,
): Promise<void> {
  const data: FeedLane = { chain_id, operation, lane };
  await boss.send(sliceQueue, data, {
    singletonKey: laneName(data),
    group: { id: laneName(data) },
    // What is new is taken up before what is old, where both wait for a worker.
    priority: lane === 'live' ? 1 : 0,
    ...(afterMs > 0 && { startAfter: Math.ceil(afterMs / 1000) }),
    ...within(tx),
  });
}

/** The work on a slice's job. */
interface SliceWork {
  readonly db: Database;
  readonly boss: PgBoss;
  readonly job: JobWithMetadata<FeedLane>;
}

/**
 * Fetches due slices of the lanes that a process works on; null: of all. Those of other lanes are for others, who would miss them
 * meanwhile.
 */
export async function fetchSlices(
  { db, boss }: Pick<SliceWork, 'db' | 'boss'>,
  works: ((lane: FeedLane) => boolean) | null,
  batchSize: number,
): Promise<readonly JobWithMetadata<FeedLane>[]> {
  const how = { batchSize, includeMetadata: true } as const;
  if (works === null) return boss.fetch<FeedLane>(sliceQueue, how);
  const lanes = await execute(db).values(feedLaneShape)`
    select ${laneOfRow} from etl.lanes join etl.feeds using (feed)
  `;
  const ignoreGroups = lanes.filter((lane) => !works(lane)).map(laneName);
  return boss.fetch<FeedLane>(sliceQueue, { ...how, ignoreGroups });
}

/** Whether this worker still had the job; else another one has taken it over. */
async function complete(tx: Transaction, { boss, job }: SliceWork): Promise<boolean> {
  return !isNone(await boss.complete(sliceQueue, job, null, within(tx)));
}

/** Whether the job was another worker's. pg-boss 12.35 answers with the count, but declares an empty type. */
const isNone = (answer: object) => (answer as { affected: number }).affected === 0;

/** Takes a slice's lane: `taken-over` from a process that is gone; `gone`: another process took over the job of this silent one. */
export const takeSlice = (
  { db, boss, job }: SliceWork,
  worker: string,
): Promise<'taken' | 'taken-over' | 'gone'> =>
  transact(db, async (tx) => {
    const lane = job.data;
    const before = await execute(tx).row(() => z.object({ worker: z.string().nullable() }))`
      select worker from etl.lanes where ${ofLane(lane)} for update
    `;
    if (isNone(await boss.touch(sliceQueue, job, within(tx)))) return 'gone';
    await tx.execute(sql`
      update etl.lanes
      set worker = ${worker}, taken_at = clock_timestamp(), due_at = null, stopped_at = null
      where ${ofLane(lane)}
    `);
    await tx.execute(sql`
      update etl.runs set failure = null, reason = null
      where ${ofLane(lane)} and state = 'open' and reason is not null
    `);
    const had = before?.worker ?? null;
    return had === null || had === worker ? 'taken' : 'taken-over';
  });

/** Leaves a slice of a lane that came since this process looked, to those that work on it; looks at it again after a time in ms. */
export const leaveSlice = (work: SliceWork, afterMs: number): Promise<void> =>
  transact(work.db, async (tx) => {
    if (!(await complete(tx, work))) return;
    const lane = work.job.data;
    if (await hasOpenRun(tx, lane)) await sendSlice(work.boss, tx, lane, afterMs);
  });

/**
 * Ends a slice's job, if it is still this worker's, and queues the next one while the lane has an open run and is not paused.
 * Every slice ends here: a run opened meanwhile could queue no job beside this one.
 * @param afterMs when the next one is due, in ms; `stopped`: whenever a process works again
 */
export const chainSlice = (work: SliceWork, afterMs: number | 'stopped'): Promise<void> =>
  transact(work.db, async (tx) => {
    const lane = work.job.data;
    // Who opens a run holds the row until its job is sent: one of both sees what the other did.
    const isPaused = await execute(tx).value(z.boolean)`
      select paused_at is not null from etl.lanes where ${ofLane(lane)} for update
    `;
    if (!(await complete(tx, work))) return;
    const waitMs = afterMs === 'stopped' ? 0 : Math.round(afterMs);
    const isOpen = await execute(tx).has`
      update etl.runs set waited_ms = waited_ms + ${waitMs}
      where ${ofLane(lane)} and state = 'open'
      returning id
    `;
    const goesOn = isOpen && isPaused === false;
    const isDue = goesOn && afterMs !== 'stopped';
    await tx.execute(sql`
      update etl.lanes
      set worker = null, taken_at = null,
          due_at = case when ${isDue} then clock_timestamp() + ${waitMs} * interval '1 millisecond' end,
          stopped_at = case when ${isOpen && !isDue} then clock_timestamp() else stopped_at end
      where ${ofLane(lane)}
    `);
    if (goesOn) await sendSlice(work.boss, tx, lane, waitMs);
  });
