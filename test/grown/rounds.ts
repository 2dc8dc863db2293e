import { drizzle } from 'drizzle-orm/node-postgres';
import { openEngine, prepareDatabase, type OpenDatabase } from '../../src/app.ts';
import type { Settings } from '../../src/config/settings.ts';
import { createPool } from '../../src/db/pool.ts';
import { dueLanes } from '../../src/feeds/due.ts';
import { configuredLanes } from '../../src/feeds/lanes.ts';
import { feedName } from '../../src/lists/feed.ts';
import { syncOnce } from '../../src/jobs/sync.ts';
import { createLog } from '../../src/log.ts';
import { reportFeeds } from '../../src/report/feed-report.ts';
import { feedsNow } from '../../src/report/lane-state.ts';
import { requestsSince } from '../../src/report/plan/facts.ts';
import { forecastFeeds } from '../../src/report/plan/plan.ts';
import { prove } from '../../src/report/proof.ts';
import { patient } from '../support/sync.ts';
import type { Recorder, RunStatement } from './recorder.ts';

/** What the program did, and the statements that it took. */
export interface Round {
  readonly what: string;
  readonly ms: number;
  readonly statements: readonly RunStatement[];
}

const dayMs = 86_400_000;

/**
 * What people and schedules have the program do, one thing after the other: the reports, a poll of each
 * feed's live lane, what closes gaps, and the reports again.
 */
export async function goRound(
  {
    url,
    settings,
    recorder,
  }: {
    readonly url: string;
    readonly settings: Settings;
    readonly recorder: Recorder;
  },
  onRound: (round: Round) => void,
): Promise<void> {
  const pool = createPool({ url, max: 12, applicationName: 'explorer-etl' });
  const db = drizzle(pool);
  const round = async (what: string, work: () => Promise<unknown>) => {
    recorder.take();
    const begin = performance.now();
    await work();
    const ms = performance.now() - begin;
    onRound({ what, ms, statements: recorder.take().filter(({ text }) => !/pgboss/u.test(text)) });
  };
  const reports = async () => {
    await round('status', () => reportFeeds(db, settings.explorer.pageSize));
    await round('progress', () => feedsNow(db));
    await round('plan', async () => {
      const at = new Date();
      await forecastFeeds(db, settings.chains, { pageSize: settings.explorer.pageSize, at });
      await requestsSince(db, new Date(at.getTime() - (at.getTime() % dayMs)), at);
    });
    await round('verify', () => prove(db));
  };
  const database: OpenDatabase = {
    url,
    pool,
    db,
    embedded: null,
    close: async () => 'left-running',
  };
  try {
    await prepareDatabase(database);
    await reports();
    const engine = await openEngine({
      settings,
      database,
      log: createLog('silent', () => undefined),
      supervise: false,
      source: { sameData: true },
      timeouts: { doubtMs: 0 },
      dbTimeouts: patient,
    });
    try {
      const lanes = configuredLanes(settings.chains);
      const live = lanes.filter(({ lane }) => lane.lane === 'live');
      const others = lanes.filter(({ lane }) => lane.lane !== 'live');
      await round('due', () => dueLanes(db, lanes, 'schedule', engine.clock()));
      for (const target of [...live, ...others]) {
        const { lane } = target;
        await round(`${lane.lane} lane of ${feedName(lane)}`, () =>
          syncOnce([target], engine, new AbortController().signal),
        );
      }
    } finally {
      await engine.close();
    }
    await reports();
  } finally {
    await pool.end();
  }
}
