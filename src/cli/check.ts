import { asTyped } from '../config/load.ts';
import type { CheckDocument } from '../documents/check.ts';
import { openDatabase } from '../open-database.ts';
import { creditsPerPage } from '../sync/ledger.ts';
import { configuredFeeds } from '../sync/targets.ts';
import { askDatabase } from './check-database.ts';
import { askExplorer, unasked } from './check-explorer.ts';
import { checkText } from './check-text.ts';
import { addFeedOptions, type ChosenFeeds } from './chosen-feeds.ts';
import { exitCodes, type Registry, writeDocument } from './context.ts';
import { demoSettings } from './demo-settings.ts';
import { addDemo, type DemoOption, placeOf } from './existing.ts';
import { print } from './print.ts';
import { settingsOf } from './setup.ts';

/** `check`: whether configuration, database and API would do. */
export function registerCheck({ command, run }: Registry): void {
  addDemo(addFeedOptions(command))
    // Its default has to be said: commander finds it only of options that are there before it parses.
    .option('--no-requests', `make no request (each feed's costs ${creditsPerPage} credits)`, true)
    .addHelpText(
      'after',
      '\nExamples:\n  explorer-etl check\n  explorer-etl check --chain optimism --no-requests\n',
    )
    .action(
      run<ChosenFeeds & DemoOption & { requests: boolean }>(async (context, options) => {
        const isDemo = options.demo === true;
        const settings = isDemo ? demoSettings(context, options) : settingsOf(context, options);
        const place = await placeOf(context, settings, options);
        const database = await openDatabase(settings, place);
        try {
          const answer = await askDatabase(settings, database);
          // The demo's explorer ends with it.
          const explorer =
            options.requests && !isDemo
              ? await askExplorer(settings, database, context.signal)
              : unasked(settings);
          const findings = [...answer.findings, ...explorer.findings];
          const exit = findings.some(({ state }) => state === 'failed')
            ? ({ code: exitCodes.failed, reason: 'failed' } as const)
            : ({ code: exitCodes.done, reason: 'done' } as const);
          const document: CheckDocument = {
            schema: 'explorer-etl/check/1',
            exit,
            configuration: {
              file: settings.configFile === null ? null : asTyped(settings.configFile, context.cwd),
              chains: settings.chains.length,
              feeds: configuredFeeds(settings.chains).length,
            },
            database: answer.database,
            explorer: explorer.explorer,
            keys: explorer.keys,
            feeds: explorer.feeds,
            findings,
          };
          if (options.json) writeDocument(context, document);
          else print(place, checkText(document, context.out));
          return exit.code;
        } finally {
          await database.close();
        }
      }),
    );
}
