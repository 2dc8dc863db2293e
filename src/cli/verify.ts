import { prove } from '../report/proof.ts';
import { verifyReport } from '../report/verify.ts';
import { exitCodes, writeDocument, type Registry } from './context.ts';
import { addDemo, placeOf, type DemoOption } from './existing.ts';
import { demandPrepared, onDatabase } from './on-database.ts';
import { print } from './print.ts';
import { settingsOf } from './setup.ts';
import { verifyText } from './verify-text.ts';

/** `verify`: the proof of what is complete; exit 0 only if nothing is open. */
export function registerVerify({ command, run }: Registry): void {
  addDemo(command)
    .addHelpText(
      'after',
      '\nMakes no request. Exit code 0 only if nothing is open.\n\nExamples:\n  explorer-etl verify\n  explorer-etl verify --json\n',
    )
    .action(
      run<DemoOption>(async (context, options) => {
        const settings = settingsOf(context, options, 'database');
        const place = await placeOf(context, settings, options);
        return onDatabase(settings, place, 'reads', async (database) => {
          await demandPrepared(database, 'to verify');
          const proofs = await prove(database.db);
          const { pageSize } = settings.explorer;
          const how = { pageSize, at: new Date() };
          const document = await verifyReport(database.db, proofs, how);
          if (options.json) writeDocument(context, document);
          else print(place, verifyText(context.out, document));
          return document.exit.code === 0 ? exitCodes.done : exitCodes.failed;
        });
      }),
    );
}
