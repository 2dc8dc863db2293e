import { prepareDatabase } from '../app.ts';
import { grantRoles, roles } from '../db/roles.ts';
import {
  exitCodes,
  UsageError,
  waitingOf,
  writeDocument,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { settingsOf } from './setup.ts';
import { exits } from './exits.ts';
import { changeLargeTable, spellLayout } from './large-table.ts';
import { onDatabase } from './on-database.ts';
import { tellWhere } from './where.ts';

interface MigrateOptions {
  readonly roles?: boolean;
  readonly distribute?: boolean;
  readonly partition?: boolean;
}

/** `migrate`: brings the database's schema up to this program. */
export function registerMigrate({ command, run }: Registry): void {
  command
    .option('--roles', `also make the roles ${Object.values(roles).join(', ')}, and grant them`)
    .option('--partition', 'also partition explorer.user_operations by chain')
    .option(
      '--distribute',
      'also spread explorer.user_operations over the servers of a Citus cluster',
    )
    .addHelpText(
      'after',
      `
Roles have no login: grant them to users who have one, such as
  grant ${roles.analyst} to alice;
Again after a chain was added, --partition makes its partition.

Examples:
  DATABASE_URL=postgres://user@host/chains explorer-etl migrate
  DATABASE_URL=postgres://user@host/chains explorer-etl migrate --roles
  DATABASE_URL=postgres://user@host/chains explorer-etl migrate --partition
  DATABASE_URL=postgres://user@coordinator/chains explorer-etl migrate --distribute
`,
    )
    .action(run<MigrateOptions>(migrate));
}

function migrate(context: Context, options: MigrateOptions & GlobalOptions): Promise<ExitCode> {
  const wanted = layoutOf(options);
  const settings = settingsOf(context, options, 'database');
  return onDatabase(settings, context, 'writes', async (database) => {
    tellWhere(context, options, database);
    const waiting = waitingOf(context);
    const { applied } = await prepareDatabase(database, waiting);
    const tell = (step: string) => {
      if (!options.quiet) context.stderr(`${step}\n`);
    };
    const layout =
      wanted === null ? null : await changeLargeTable(database.pool, wanted, tell, waiting);
    const granted = options.roles === true ? Object.values(roles) : [];
    if (granted.length > 0) await grantRoles(database.pool);
    if (options.json) {
      writeDocument(context, {
        schema: 'explorer-etl/migrate/1',
        exit: exits.done,
        applied,
        roles: granted,
        layout,
      });
    } else {
      context.stdout(
        applied === 0 ? 'The schema is up to date.\n' : `Applied ${applied} migrations.\n`,
      );
      if (layout !== null) context.stdout(`${spellLayout(layout)}.\n`);
      if (granted.length > 0) context.stdout(`Granted: ${granted.join(', ')}.\n`);
    }
    return exitCodes.done;
  });
}

function layoutOf({ partition, distribute }: MigrateOptions): 'partitioned' | 'distributed' | null {
  if (partition === true && distribute === true) {
    throw new UsageError('--partition and --distribute exclude each other: choose one.');
  }
  if (partition === true) return 'partitioned';
  return distribute === true ? 'distributed' : null;
}
