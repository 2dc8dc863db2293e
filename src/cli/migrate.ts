import { prepareDatabase } from '../app.ts';
import { distribute, type Distributed } from '../db/layout.ts';
import { grantRoles, roles } from '../db/roles.ts';
import { largeTable } from '../operations/index.ts';
import {
  exitCodes,
  waitingOf,
  writeDocument,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { settingsOf } from './setup.ts';
import { exits } from './exits.ts';
import { onDatabase } from './on-database.ts';
import { tellWhere } from './where.ts';

interface MigrateOptions {
  readonly roles?: boolean;
  readonly distribute?: boolean;
}

/** `migrate`: brings the database's schema up to this program. */
export function registerMigrate({ command, run }: Registry): void {
  command
    .option('--roles', `also make the roles ${Object.values(roles).join(', ')}, and grant them`)
    .option(
      '--distribute',
      'also spread explorer.user_operations over the servers of a Citus cluster',
    )
    .addHelpText(
      'after',
      `
Roles have no login: grant them to users who have one, such as
  grant ${roles.analyst} to alice;

Examples:
  DATABASE_URL=postgres://user@host/chains explorer-etl migrate
  DATABASE_URL=postgres://user@host/chains explorer-etl migrate --roles
  DATABASE_URL=postgres://user@coordinator/chains explorer-etl migrate --distribute
`,
    )
    .action(run<MigrateOptions>(migrate));
}

function migrate(context: Context, options: MigrateOptions & GlobalOptions): Promise<ExitCode> {
  const settings = settingsOf(context, options, 'database');
  return onDatabase(settings, context, 'writes', async (database) => {
    tellWhere(context, options, database);
    const waiting = waitingOf(context);
    const { applied, views } = await prepareDatabase(database, waiting);
    const layout =
      options.distribute === true ? await distribute(database.pool, largeTable, waiting) : null;
    const granted = options.roles === true ? Object.values(roles) : [];
    if (granted.length > 0) await grantRoles(database.pool);
    if (options.json) {
      writeDocument(context, {
        schema: 'explorer-etl/migrate/1',
        exit: exits.done,
        applied,
        views,
        roles: granted,
        layout,
      });
    } else {
      if (applied > 0) context.stdout(`Applied migrations of tables: ${applied}.\n`);
      context.stdout(
        views === 0 ? 'The schema is up to date.\n' : `Made views and functions: ${views} files.\n`,
      );
      if (layout !== null) context.stdout(layoutText(layout));
      if (granted.length > 0) context.stdout(`Granted: ${granted.join(', ')}.\n`);
    }
    return exitCodes.done;
  });
}

function layoutText({ table, outcome, rows }: Distributed): string {
  const is = `${table} is ${outcome === 'already' ? 'already ' : ''}`;
  const moved = rows === null ? '' : `, with its ${rows} rows`;
  return `${is}spread over the servers of the cluster by ${largeTable.spreadBy}${moved}.\n`;
}
