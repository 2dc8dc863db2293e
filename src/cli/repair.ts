import type { SourceOptions } from '../app.ts';
import { requireApiKey } from '../config/settings.ts';
import { certify } from '../feeds/certificate.ts';
import { configuredLanes } from '../feeds/lanes.ts';
import { repairsOf } from '../feeds/repairs.ts';
import type { SyncResult } from '../jobs/sync.ts';
import { addFeedOptions, addSameData, type ChosenFeeds } from './chosen-feeds.ts';
import {
  settingsOf,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { demandPrepared, onDatabase } from './on-database.ts';
import { concludeSync, syncTargets } from './sync.ts';

/** `repair`: makes the walks that the certificate calls for, and no others. */
export function registerRepair({ program, run }: Registry): void {
  addSameData(addFeedOptions(program.command('repair')))
    .description('make the walks that verify calls for, and no others')
    .addHelpText('after', '\nExample:\n  explorer-etl repair --chain 10 && explorer-etl verify\n')
    .action(run<ChosenFeeds & SourceOptions>(repair));
}

async function repair(
  context: Context,
  options: ChosenFeeds & SourceOptions & GlobalOptions,
): Promise<ExitCode> {
  const settings = settingsOf(context, options);
  requireApiKey(settings);
  return onDatabase(settings, context, async (database) => {
    await demandPrepared(database, 'to repair');
    const lanes = configuredLanes(settings.chains).map(({ lane, scope }) => ({
      lane,
      scope,
    }));
    const results: SyncResult[] = [];
    for (const round of await repairsOf(database.db, await certify(database.db), lanes)) {
      if (context.signal.aborted) break;
      results.push(...(await syncTargets(context, options, settings, database, round)));
    }
    return concludeSync(context, options, results);
  });
}
