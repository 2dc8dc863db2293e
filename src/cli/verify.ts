import { prove } from '../report/proof.ts';
import { verifyReport } from '../report/verify.ts';
import { checkRows } from '../rows/check.ts';
import { exitCodes, writeDocument, type Registry } from './context.ts';
import { addDemo, placeOf, type DemoOption } from './existing.ts';
import { demandPrepared, onDatabase } from './on-database.ts';
import { print } from './print.ts';
import { settingsOf } from './setup.ts';
import { verifyText } from './verify-text.ts';

/** `verify`: the proof of what is complete; exit 0 only if nothing is open. */
export function registerVerify({ command, run }: Registry): void {
  addDemo(command)
    .option('--rows', 'also look at every row: whether any was deleted, changed or added by others')
    .addHelpText(
      'after',
      '\nMakes no request. Exit code 0 only if nothing is open.\n\nExamples:\n  explorer-etl verify\n  explorer-etl verify --rows\n  explorer-etl verify --json\n',
    )
    .action(
      run<DemoOption & { readonly rows?: true }>(async (context, options) => {
        const settings = settingsOf(context, options, 'database');
        const place = await placeOf(context, settings, options);
        return onDatabase(settings, place, 'reads', async (database) => {
          await demandPrepared(database, 'to verify');
          const rows = options.rows === true ? await checkRows(database.db) : null;
          // What a proof reads may be among the tables that are gone.
          const proofs = rows?.isReadable === false ? [] : await prove(database.db);
          const { pageSize } = settings.explorer;
          const how = { pageSize, at: new Date() };
          const document = await verifyReport(database.db, proofs, rows, how);
          if (options.json) writeDocument(context, document);
          else print(place, verifyText(context.out, document));
          return document.exit.code === 0 ? exitCodes.done : exitCodes.failed;
        });
      }),
    );
}
