import { registerSettings, type SourceOptions } from '../app.ts';
import { requireApiKey } from '../config/settings.ts';
import { feedName } from '../lists/feed.ts';
import type { RequestCount } from '../lists/list.ts';
import {
  isRepairable,
  mostUnrequested,
  needsConsent,
  recountCoverage,
  repairRequests,
  repairsOf,
  verifyFeeds,
  verifyReport,
} from '../status/verify.ts';
import { configuredLanes, onlyRegistered, withTargets } from '../sync/feeds.ts';
import type { SyncResult } from '../sync/once.ts';
import { type Context, type Registry, UsageError } from './context.ts';
import { openStored, readSettings } from './database.ts';
import { addFeedOptions, addFlags, type ChosenFeeds } from './options.ts';
import { concludeSync, syncTargets } from './sync.ts';
import { costText } from './verify.ts';

interface RepairOptions extends ChosenFeeds, SourceOptions {
  readonly yes?: true;
}

export function register({ command, run, explain }: Registry): void {
  addFlags(addFeedOptions(command), 'sameData')
    .option('--yes', `repair even if it takes more than ${mostUnrequested} requests`)
    .action(run(repair));
  explain([
    'explorer-etl repair --chain 10 && explorer-etl verify',
    'explorer-etl repair --chain 10 --yes',
  ]);
}

async function repair(context: Context, options: RepairOptions) {
  const wanted = readSettings(context, options);
  requireApiKey(wanted);
  await using database = await openStored(wanted, context, 'writes');
  const { db } = database;
  const begunAt = performance.now();
  // Feeds that were never read have no gap: sync and start register feeds, repair registers none.
  const settings = { ...wanted, chains: await onlyRegistered(db, wanted.chains) };
  // Ranges outside the file's bounds are no gap.
  await registerSettings(db, settings, options);
  const lanes = configuredLanes(await withTargets(db, settings));
  await recountCoverage(db);
  const chosen = new Set(lanes.map(({ lane }) => feedName(lane)));
  const verified = (await verifyFeeds(db)).filter(({ feed }) => chosen.has(feed));
  const how = { pageSize: settings.explorer.pageSize, at: new Date() };
  checkCost(context, options, repairRequests(await verifyReport(db, verified, how)));
  const results: SyncResult[] = [];
  for (const round of await repairsOf(db, verified, lanes)) {
    if (context.signal.aborted) break;
    results.push(...(await syncTargets(context, options, { settings }, database, round)));
  }
  // What it read may have shown that the service does not serve what is missing.
  const stillOpen = (await verifyFeeds(db))
    .filter((feed) => chosen.has(feed.feed) && isRepairable(feed))
    .map(({ feed }) => feed);
  const ended = {
    command: 'repair',
    settings,
    results,
    isNamed: false,
    stillOpen,
    begunAt,
  } as const;
  return await concludeSync(context, db, ended);
}

/** Reports the cost of the repair. @throws UsageError for many requests without `--yes` */
function checkCost(context: Context, { yes }: RepairOptions, count: RequestCount): void {
  const cost = costText(count);
  if (!needsConsent(count) || yes === true) {
    if (count.likely !== 0 && count.most !== 0) context.note(`This repair takes ${cost}.`);
    return;
  }
  throw new UsageError(
    `this repair takes ${cost}. Nothing was done: add --yes, or configure less (from_batch, since).`,
  );
}
