import { openDatabase, prepareDatabase } from '../app.ts';
import { exitCodes, settingsOf, writeJson, type Registry } from './context.ts';
import { tellWhere } from './where.ts';

/** `migrate`: brings the database's schema up to this program. */
export function registerMigrate({ program, run }: Registry): void {
  program
    .command('migrate')
    .description("bring the database's schema up to this program")
    .addHelpText(
      'after',
      '\nExample:\n  DATABASE_URL=postgres://user@host/chains explorer-etl migrate\n',
    )
    .action(
      run<object>(async (context, options) => {
        const database = await openDatabase(settingsOf(context, options, 'database'), context);
        try {
          tellWhere(context, options, database);
          const { applied } = await prepareDatabase(database);
          if (options.json) writeJson(context, { applied });
          else {
            context.stdout(
              applied === 0 ? 'The schema is up to date.\n' : `Applied ${applied} migrations.\n`,
            );
          }
          return exitCodes.done;
        } finally {
          await database.close();
        }
      }),
    );
}
