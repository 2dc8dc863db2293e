import type { SourceOptions } from '../app.ts';
import { requireApiKey, type Settings } from '../config/settings.ts';
import { parseTime } from '../config/time.ts';
import type { SyncTarget } from '../jobs/sync.ts';
import { addFeedOptions, addSameData, wholeNumber, type ChosenFeeds } from './chosen-feeds.ts';
import {
  settingsOf,
  UsageError,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { syncOnDatabase, targetsOf } from './sync.ts';

interface BackfillOptions extends ChosenFeeds, SourceOptions {
  readonly since?: string;
  readonly fromBatch?: number;
  readonly again?: true;
}

/** `backfill`: extends the history of feeds, and reads only what is new. */
export function registerBackfill({ program, run }: Registry): void {
  addSameData(addFeedOptions(program.command('backfill')))
    .description('read history that is not covered yet, and nothing else')
    .option('--since <time>', 'read user operations back to this date or time')
    .option('--from-batch <n>', 'first Optimism batch to read', wholeNumber(0))
    .option('--again', 'read the known history of user operations again, for what came late')
    .addHelpText(
      'after',
      `
Without bounds it goes as far back as the configuration says; with one, only for the list that it
bounds. What is new is left to sync and start.
An interrupted backfill resumes where it was when the same command is given again.

Examples:
  explorer-etl backfill --chain 10 --operation user-operations --since 2023-01-01
  explorer-etl backfill --chain 10 --operation optimism-batch-blocks --from-batch 1
  explorer-etl backfill --chain 10 --again
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
  const settings = withHistory(configured, options);
  const targets = historyTargets(settings, options, new Date());
  return syncOnDatabase(context, options, settings, targets);
}

/**
 * The backfill lanes that the flags concern. A census has no history: each reads the whole list.
 *
 * @throws UsageError where a flag concerns no feed that was chosen
 */
function historyTargets(settings: Settings, options: BackfillOptions, now: Date): SyncTarget[] {
  const { since, fromBatch, again } = options;
  const bounds = {
    ...(since !== undefined && { since }),
    ...(fromBatch !== undefined && { fromBatch }),
  };
  const lanes = targetsOf(settings, bounds, now).filter(
    ({ lane }) => lane.lane === 'backfill' && lane.operation !== 'factories',
  );
  const operations = lanes.filter(({ lane }) => lane.operation === 'user-operations');
  const batches = lanes.filter(({ lane }) => lane.operation === 'optimism-batch-blocks');
  if (lanes.length === 0) throw new UsageError(`factories have no history: ${kindsOfHistory}.`);
  // A bound for one list says nothing of the other.
  if (again === undefined) {
    if (since !== undefined && fromBatch === undefined) return operations;
    return fromBatch !== undefined && since === undefined ? batches : lanes;
  }
  if (operations.length === 0 || fromBatch !== undefined) {
    throw new UsageError('--again is about user-operations: a batch that is proved never changes.');
  }
  return operations.map(({ lane, scope }) => ({ lane, scope: { ...scope, again: true } }));
}

const kindsOfHistory = 'choose user-operations or optimism-batch-blocks';

/**
 * The settings with a `since` that lies before the configured one put in its place: a feed counts as
 * complete down to the `since` of its settings, so nothing below it would be missing.
 */
function withHistory(settings: Settings, { since }: BackfillOptions): Settings {
  const time = since === undefined ? null : parseTime(since);
  if (time === null) return settings;
  return {
    ...settings,
    chains: settings.chains.map((chain) => {
      const operations = chain.operations['user-operations'];
      const bound = operations?.since ?? null;
      if (operations === undefined || bound === null || time >= bound) return chain;
      const extended = { ...operations, since: time };
      return { ...chain, operations: { ...chain.operations, 'user-operations': extended } };
    }),
  };
}
