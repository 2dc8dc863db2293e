import { once } from 'node:events';
import { openEngine, type Engine, type SourceOptions } from '../app.ts';
import type { OpenDatabase } from '../open-database.ts';
import type { Settings } from '../config/settings.ts';
import { feedName } from '../lists/feed.ts';
import { configuredLanes, withTargets } from '../sync/targets.ts';
import { closeRun, currentRun } from '../sync/runs.ts';
import { syncOnce } from '../sync/once.ts';
import { createLog } from '../log.ts';
import { readStatus } from '../status/status.ts';
import { type Context, type GlobalOptions } from './context.ts';
import { showProgress, watchedFeeds, type Progress } from './progress.ts';
import { openScreen } from './screen.ts';

/** Whose history is to be looked into, and by how many requests each. */
export interface Probe {
  readonly feeds: ReadonlySet<string>;
  readonly requests: number;
}

/**
 * Reads the first pages of feeds' histories, as sync would: they are kept, and the next sync goes on
 * behind them, so nothing is paid twice. One feed after the other, each until its requests are made.
 */
export async function probeFeeds(
  context: Context,
  options: GlobalOptions & SourceOptions,
  settings: Settings,
  database: OpenDatabase,
  { feeds, requests }: Probe,
): Promise<void> {
  const targets = configuredLanes(await withTargets(database.db, settings.chains)).filter(
    ({ lane }) => lane.lane === 'backfill' && feeds.has(feedName(lane)),
  );
  const screen = openScreen(context);
  let progress: Progress | null = null;
  const engine = await openEngine({
    settings,
    database,
    log: createLog('warn', (line) => screen.write(line)),
    supervise: false,
    source: options,
  });
  try {
    progress = await showProgress(context, options, screen, {
      feeds: watchedFeeds(settings, targets, requests),
      read: () => readStatus(database.db, { pageSize: settings.explorer.pageSize, standby: null }),
    });
    for (const { lane, scope } of targets) {
      if (context.signal.aborted) return;
      const spent = new AbortController();
      const signal = AbortSignal.any([context.signal, spent.signal]);
      await syncOnce([{ lane, scope }], boundedBy(engine, requests, spent), signal);
      const run = await currentRun(engine.db, lane);
      // Left to the next sync or start, which joins it and goes on with its walks.
      if (run !== null) await closeRun(engine.db, run, 'interrupted', null);
    }
  } finally {
    await progress?.end();
    await engine.close();
  }
}

/** An engine that makes so many requests and no more: `spent` aborts with the last one. */
function boundedBy(engine: Engine, requests: number, spent: AbortController): Engine {
  let made = 0;
  return {
    ...engine,
    async fetchPage(...asked) {
      const [, signal] = asked;
      // Whoever comes later waits for the stop that is under way.
      if (made === requests) {
        if (!signal.aborted) await once(signal, 'abort');
        throw signal.reason;
      }
      made += 1;
      if (made === requests) spent.abort(new Error('the requests are made'));
      return engine.fetchPage(...asked);
    },
  };
}
