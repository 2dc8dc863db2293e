import { prepareDatabase } from '../app.ts';
import { grantRoles, roles } from '../db/roles.ts';
import { exitCodes, settingsOf, waitingOf, writeJson, type Registry } from './context.ts';
import { onDatabase } from './on-database.ts';
import { tellWhere } from './where.ts';

/** `migrate`: brings the database's schema up to this program. */
export function registerMigrate({ program, run }: Registry): void {
  program
    .command('migrate')
    .description("bring the database's schema up to this program")
    .option('--roles', `also make the roles ${Object.values(roles).join(', ')}, and grant them`)
    .addHelpText(
      'after',
      `
Roles have no login: grant them to users who have one, such as
  grant ${roles.analyst} to alice;

Examples:
  DATABASE_URL=postgres://user@host/chains explorer-etl migrate
  DATABASE_URL=postgres://user@host/chains explorer-etl migrate --roles
`,
    )
    .action(
      run<{ readonly roles?: boolean }>(async (context, options) => {
        return onDatabase(
          settingsOf(context, options, 'database'),
          context,
          'writes',
          async (database) => {
            tellWhere(context, options, database);
            const { applied } = await prepareDatabase(database, waitingOf(context));
            const granted = options.roles === true ? Object.values(roles) : [];
            if (granted.length > 0) await grantRoles(database.pool);
            if (options.json) writeJson(context, { applied, roles: granted });
            else {
              context.stdout(
                applied === 0 ? 'The schema is up to date.\n' : `Applied ${applied} migrations.\n`,
              );
              if (granted.length > 0) context.stdout(`Granted: ${granted.join(', ')}.\n`);
            }
            return exitCodes.done;
          },
        );
      }),
    );
}
