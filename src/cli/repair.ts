import { requireApiKey } from '../config/settings.ts';
import { certify } from '../feeds/certificate.ts';
import { noteDamage } from '../feeds/damage.ts';
import { configuredFeeds, configuredLanes } from '../feeds/lanes.ts';
import { registerFeeds } from '../feeds/register.ts';
import { repairsOf } from '../feeds/repairs.ts';
import type { SyncResult } from '../jobs/sync.ts';
import { addFeedOptions, type ChosenFeeds } from './chosen-feeds.ts';
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
  addFeedOptions(program.command('repair'))
    .description('make the walks that verify calls for, and no others')
    .option('--rows', 'first note the rows that verify --rows finds damaged, to read them again')
    .addHelpText(
      'after',
      '\nExamples:\n  explorer-etl repair --chain 10 && explorer-etl verify\n  explorer-etl repair --rows && explorer-etl verify --rows\n',
    )
    .action(run<RepairOptions>(repair));
}

/** What the program saw happen; of a factory's counts the present one is told. */
const neverToldAgain: ReadonlySet<string> = new Set([
  'explorer.block_reorgs',
  'explorer.factory_history',
]);

interface RepairOptions extends ChosenFeeds {
  readonly rows?: true;
}

async function repair(context: Context, options: RepairOptions & GlobalOptions): Promise<ExitCode> {
  const settings = settingsOf(context, options);
  requireApiKey(settings);
  return onDatabase(settings, context, async (database) => {
    await demandPrepared(database, 'to repair');
    if (options.rows) {
      const found = await noteDamage(database.db);
      const from = settings.configFile === null ? 'flags' : 'file';
      await registerFeeds(database.db, configuredFeeds(settings.chains), from);
      for (const [table, entries] of found) {
        const again = neverToldAgain.has(table) ? ', which no list tells again' : '';
        context.stderr(`${table}: ${entries} damages noted in etl.damage${again}\n`);
      }
    }
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
