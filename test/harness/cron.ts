import type { Pool } from 'pg';
import { createLog } from '../../src/log.ts';
import { installQueues, startBoss } from '../../src/sync/queue.ts';
import type { ConfiguredLane } from '../../src/sync/targets.ts';
import { runQueue } from '../../src/sync/workers.ts';
import { atEnd } from './ending.ts';

/** Plays the part of the cron: sends what a schedule sends for lanes. */
export type SendRuns = (lanes: readonly ConfiguredLane[]) => Promise<void>;

/** Opens a cron that sends only what is requested, until the running test ends. */
export async function openCron(databaseUrl: string): Promise<SendRuns> {
  await installQueues(databaseUrl);
  const log = createLog('silent', () => undefined);
  const boss = await startBoss({ databaseUrl, log, supervise: false });
  atEnd(() => boss.stop({ graceful: false }));
  return async (lanes) => {
    for (const { lane, scope } of lanes) {
      const singletonKey = `${lane.chain_id}.${lane.operation}.${lane.lane}`;
      await boss.send(runQueue, { lane, scope }, { singletonKey });
    }
  };
}

/** Runs that were sent, or are open, and the jobs that work on them; empty when all is at rest. */
export async function runsUnderWay(pool: Pool): Promise<object[]> {
  const { rows } = await pool.query<object>(
    `select chain_id || '/' || operation as feed, lane, failures_in_a_row, opened_at,
            (select json_agg(walks) from etl.walks
             where run_id = runs.id and walks.state = 'running') as walks,
            (select json_agg(job) from (
               select state, start_after, started_on from pgboss.job
               where name = 'slices' and data ->> 'operation' = runs.operation
                 and data ->> 'lane' = runs.lane and state in ('created', 'active', 'retry')
             ) as job) as jobs
     from etl.runs where state = 'open'
     union all
     select singleton_key, 'sent', 0, created_on, null, null from pgboss.job
     where name = $1 and state in ('created', 'active', 'retry')`,
    [runQueue],
  );
  return rows;
}

/** Whether so many feeds have been copied once, which a start does without a run of the cron. */
export async function areCopied(pool: Pool, feeds: number): Promise<boolean> {
  const { rows } = await pool.query<{ copied: boolean | null }>(
    'select bool_and(last_success_at is not null) and count(*) = $1 as copied from etl.feeds',
    [feeds],
  );
  return rows[0]?.copied ?? false;
}
