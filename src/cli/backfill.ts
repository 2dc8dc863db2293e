import type { SourceOptions } from '../app.ts';
import { requireApiKey, type Settings } from '../config/settings.ts';
import { feedName } from '../lists/feed.ts';
import { hasHistory, isBoundedBy } from '../lists/index.ts';
import type { ScopeBounds, Target } from '../lists/list.ts';
import { type OperationName, operationNames } from '../lists/registry.ts';
import { configuredLanes, onlyFeeds } from '../sync/feeds.ts';
import { type Context, type Registry, UsageError } from './context.ts';
import { readSettings } from './database.ts';
import {
  addFeedOptions,
  addFlags,
  boundsOfFlags,
  type ChosenFeeds,
  givenBounds,
} from './options.ts';
import { syncOnDatabase } from './sync.ts';

interface BackfillOptions extends ChosenFeeds, ScopeBounds, SourceOptions {}

/** `backfill`: extends the history of feeds, and reads only what is missing. */
export function register({ command, run, explain }: Registry): void {
  addFlags(addFeedOptions(command), 'sameData', 'since', 'fromBatch', 'fromBlock', 'toBlock')
    .option('--again', 'read the known history of newest-first lists again, for what came late')
    .action(run(backfill));
  explain(
    [
      'explorer-etl backfill --chain 10 --since 2023-01-01',
      'explorer-etl backfill --chain 10 --from-batch 1',
      'explorer-etl backfill --chain 10 --again',
    ],
    `Without bounds it reads as far back as the configuration says, or the last command that named bounds.
A bound selects the lists that support it. --since all and --from-batch 1 take all there is. sync and
start read what is new. The same command resumes an interrupted backfill.`,
  );
}

async function backfill(context: Context, options: BackfillOptions) {
  const settings = readSettings(context, options);
  requireApiKey(settings);
  const bounds = boundsOfFlags(settings, options);
  const targets = (aimed: Settings) => historyTargets(aimed, options, bounds);
  // Refuses flags that choose no feed before a database opens. Others are not registered.
  const feeds = targets(settings).map(({ lane }) => feedName(lane));
  const chosen = { ...settings, chains: onlyFeeds(settings.chains, feeds) };
  return syncOnDatabase('backfill', context, options, { settings: chosen, bounds, targets });
}

/** The lanes with history, so no rankings. @throws UsageError if a flag bounds no chosen feed */
function historyTargets(
  settings: Settings,
  options: BackfillOptions,
  bounds: ScopeBounds,
): Target[] {
  const { again = false } = options;
  const lanes: Target[] = configuredLanes(settings.chains, { ...bounds, again }).filter(
    ({ lane }) => lane.lane === 'backfill' && hasHistory(lane.operation),
  );
  if (lanes.length === 0) {
    const chosen = settings.chains.flatMap(({ operations }) => Object.keys(operations));
    throw new UsageError(
      `${[...new Set(chosen)].join(', ')} have no history: choose ${oneOf.format(operationNames.filter(hasHistory))}.`,
    );
  }
  const given = givenBounds(bounds);
  const isBounded = ({ lane: { operation } }: Target) =>
    given.some((bound) => isBoundedBy(operation, bound));
  if (!again) return given.length === 0 ? lanes : lanes.filter(isBounded);
  if (bounds.fromBlock !== undefined || bounds.toBlock !== undefined) {
    throw new UsageError(
      '--again reads all known history; --from-block and --to-block are for what is missing.',
    );
  }
  const readAgain = lanes.filter(({ lane }) => canReadAgain(lane.operation));
  if (readAgain.length === 0 || (given.length > 0 && !readAgain.every(isBounded))) {
    throw new UsageError(
      `--again applies only to ${operationNames.filter(canReadAgain).join(', ')}: a batch that is verified never changes.`,
    );
  }
  return readAgain;
}

const oneOf = new Intl.ListFormat('en', { type: 'disjunction' });

const canReadAgain = (operation: OperationName) => isBoundedBy(operation, 'again');
