import type { SourceOptions } from '../app.ts';
import { type ChainSettings, requireApiKey, type Settings } from '../config/settings.ts';
import { isBoundedBy, kindOf } from '../lists/index.ts';
import type { ScopeBounds } from '../lists/list.ts';
import { operationNames } from '../operations/index.ts';
import type { SyncTarget } from '../sync/once.ts';
import { addFeedOptions, addSameData, type ChosenFeeds, wholeNumber } from './chosen-feeds.ts';
import {
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
  UsageError,
} from './context.ts';
import { settingsOf } from './setup.ts';
import {
  checkedBounds,
  examplesOf,
  flagNames,
  sinceHelp,
  sinceOf,
  syncOnDatabase,
  targetsOf,
} from './sync.ts';

interface BackfillOptions extends ChosenFeeds, SourceOptions {
  readonly since?: string;
  readonly fromBatch?: number;
  readonly fromBlock?: number;
  readonly toBlock?: number;
  readonly again?: true;
}

/** `backfill`: extends the history of feeds, and reads only what is new. */
export function registerBackfill({ command, run }: Registry): void {
  addSameData(addFeedOptions(command))
    .option('--since <time>', sinceHelp)
    .option('--from-batch <n>', 'first Optimism batch to read', wholeNumber(0))
    .option('--from-block <n>', 'of what is missing only from this block on', wholeNumber(0))
    .option('--to-block <n>', 'and up to this one', wholeNumber(0))
    .option('--again', 'read the known history of newest-first lists again, for what came late')
    .addHelpText(
      'after',
      `
Without bounds it goes as far back as the configuration says, or the command that named bounds last;
with one, only for the list that it bounds. --since all and --from-batch 1 take all there is. What is
new is left to sync and start.
An interrupted backfill resumes where it was when the same command is given again.

Examples:
${examplesOf('backfill')}  explorer-etl backfill --chain 10 --again
`,
    )
    .action(run<BackfillOptions>(backfill));
}

async function backfill(
  context: Context,
  options: BackfillOptions & GlobalOptions,
): Promise<ExitCode> {
  const configured = settingsOf(context, options);
  requireApiKey(configured);
  const now = new Date();
  const settings =
    options.since === undefined ? configured : withHistory(configured, sinceOf(options.since, now));
  const wanted = (aimed: Settings) => historyTargets(aimed, options, now);
  const bounds = checkedBounds(historyFlags(options), now);
  return syncOnDatabase('backfill', context, options, { settings, bounds, wanted });
}

/**
 * The backfill lanes that the flags concern. A ranking has no history: each reads the whole list.
 *
 * @throws UsageError where a flag concerns no feed that was chosen
 */
function historyTargets(settings: Settings, options: BackfillOptions, now: Date): SyncTarget[] {
  const { fromBlock, toBlock, again } = options;
  const bounds = historyFlags(options);
  const lanes = targetsOf(settings, bounds, now).filter(
    ({ lane }) => lane.lane === 'backfill' && kindOf(lane.operation).hasHistory,
  );
  if (lanes.length === 0) {
    const chosen = settings.chains.flatMap(({ operations }) => Object.keys(operations));
    throw new UsageError(
      `${[...new Set(chosen)].join(', ')} have no history: choose ${oneOf.format(namesOf('hasHistory'))}.`,
    );
  }
  const given = boundsGiven(bounds);
  const isBounded = ({ lane: { operation } }: SyncTarget) =>
    given.some((bound) => isBoundedBy(operation, bound));
  if (again !== undefined && (fromBlock !== undefined || toBlock !== undefined)) {
    throw new UsageError(
      '--again reads all known history; --from-block and --to-block are for what is missing.',
    );
  }
  // A bound for one list says nothing of the other.
  if (again === undefined) return given.length === 0 ? lanes : lanes.filter(isBounded);
  const readAgain = lanes.filter(({ lane }) => kindOf(lane.operation).canReadAgain);
  if (readAgain.length === 0 || (given.length > 0 && !readAgain.every(isBounded))) {
    throw new UsageError(
      `--again is about ${namesOf('canReadAgain').join(' and ')}: a batch that is proved never changes.`,
    );
  }
  return readAgain.map(({ lane, scope }) => ({ lane, scope: { ...scope, again: true } }));
}

/** The flags that bound what is read. */
const historyFlags = ({ since, fromBatch, fromBlock, toBlock }: BackfillOptions) => ({
  ...(since !== undefined && { since }),
  ...(fromBatch !== undefined && { fromBatch }),
  ...(fromBlock !== undefined && { fromBlock }),
  ...(toBlock !== undefined && { toBlock }),
});

const boundsGiven = (bounds: ScopeBounds) =>
  [...flagNames.keys()].filter((bound) => bounds[bound] !== undefined);

const oneOf = new Intl.ListFormat('en', { type: 'disjunction' });

const namesOf = (is: 'hasHistory' | 'canReadAgain') =>
  operationNames.filter((name) => kindOf(name)[is]);

/**
 * The settings with bounds that lie further back than the configured ones in their place: a feed counts
 * as complete down to the bound of its settings, so nothing below it would be missing.
 */
function withHistory(settings: Settings, since: string | null): Settings {
  const extended = ({ operations, ...chain }: ChainSettings): ChainSettings => ({
    ...chain,
    operations: Object.fromEntries(
      operationNames.flatMap((name) => {
        const own = operations[name];
        return own === undefined ? [] : [[name, kindOf(name).extended(own, { since })]];
      }),
    ),
  });
  return { ...settings, chains: settings.chains.map(extended) };
}
