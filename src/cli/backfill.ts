import type { SourceOptions } from '../app.ts';
import { type ChainSettings, requireApiKey, type Settings } from '../config/settings.ts';
import { feedName } from '../lists/feed.ts';
import { isBoundedBy, kindOf } from '../lists/index.ts';
import type { ScopeBounds, Target } from '../lists/list.ts';
import { operationNames } from '../lists/registry.ts';
import { configuredLanes, onlyFeeds } from '../sync/feeds.ts';
import { type Context, type Registry, UsageError } from './context.ts';
import { settingsOf } from './database.ts';
import {
  addBounds,
  addFeedOptions,
  addSameData,
  boundExamples,
  boundsOf,
  type ChosenFeeds,
  givenBounds,
} from './options.ts';
import { syncOnDatabase } from './sync.ts';

interface BackfillOptions extends ChosenFeeds, ScopeBounds, SourceOptions {
  readonly again?: true;
}

/** `backfill`: extends the history of feeds, and reads only what is missing. */
export function register({ command, run, explain }: Registry): void {
  addBounds(addSameData(addFeedOptions(command)), ['since', 'fromBatch', 'fromBlock', 'toBlock'])
    .option('--again', 'read the known history of newest-first lists again, for what came late')
    .action(run(backfill));
  explain(
    [...boundExamples('backfill'), 'explorer-etl backfill --chain 10 --again'],
    `Without bounds it reads as far back as the configuration says, or the last command that named bounds.
A bound selects the lists that support it. --since all and --from-batch 1 take all there is. sync and
start read what is new. The same command resumes an interrupted backfill.`,
  );
}

async function backfill(context: Context, options: BackfillOptions) {
  const configured = settingsOf(context, options);
  requireApiKey(configured);
  const bounds = boundsOf(configured, options);
  const { since } = bounds;
  const settings = since === undefined ? configured : withHistory(configured, since);
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
  const lanes: Target[] = configuredLanes(settings.chains, bounds).filter(
    ({ lane }) => lane.lane === 'backfill' && kindOf(lane.operation).hasHistory,
  );
  if (lanes.length === 0) {
    const chosen = settings.chains.flatMap(({ operations }) => Object.keys(operations));
    throw new UsageError(
      `${[...new Set(chosen)].join(', ')} have no history: choose ${oneOf.format(namesOf('hasHistory'))}.`,
    );
  }
  const given = givenBounds(bounds);
  const isBounded = ({ lane: { operation } }: Target) =>
    given.some((bound) => isBoundedBy(operation, bound));
  if (options.again === undefined) return given.length === 0 ? lanes : lanes.filter(isBounded);
  if (bounds.fromBlock !== undefined || bounds.toBlock !== undefined) {
    throw new UsageError(
      '--again reads all known history; --from-block and --to-block are for what is missing.',
    );
  }
  const readAgain = lanes.filter(({ lane }) => kindOf(lane.operation).canReadAgain);
  if (readAgain.length === 0 || (given.length > 0 && !readAgain.every(isBounded))) {
    throw new UsageError(
      `--again applies only to ${namesOf('canReadAgain').join(', ')}: a batch that is verified never changes.`,
    );
  }
  return readAgain.map(({ lane, scope }) => ({ lane, scope: { ...scope, again: true } }));
}

const oneOf = new Intl.ListFormat('en', { type: 'disjunction' });

const namesOf = (is: 'hasHistory' | 'canReadAgain') =>
  operationNames.filter((name) => kindOf(name)[is]);

/** Settings with earlier bounds, so that nothing after them counts as complete yet. */
function withHistory(settings: Settings, since: string | null): Settings {
  const extended = ({ operations, ...chain }: ChainSettings): ChainSettings => ({
    ...chain,
    operations: Object.fromEntries(
      operationNames.flatMap((name) => {
        const own = operations[name];
        return own === undefined ? [] : [[name, kindOf(name).extended?.(own, { since }) ?? own]];
      }),
    ),
  });
  return { ...settings, chains: settings.chains.map(extended) };
}
