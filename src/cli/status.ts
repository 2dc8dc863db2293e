import { reportFeeds } from '../report/feed-report.ts';
import { exitCodes, writeJson, type Registry } from './context.ts';
import { settingsOf } from './setup.ts';
import { onDatabase } from './on-database.ts';
import { isPrepared } from './readiness.ts';
import { statusText } from './status-text.ts';

/** `status`: what each feed is doing, how current it is, and what is left. */
export function registerStatus({ command, run }: Registry): void {
  command
    .addHelpText('after', '\nExamples:\n  explorer-etl status\n  explorer-etl status --json\n')
    .action(
      run<object>(async (context, options) => {
        const settings = settingsOf(context, options, 'database');
        return onDatabase(settings, context, 'reads', async (database) => {
          // Looking changes nothing, so it makes no tables either.
          const feeds = (await isPrepared(database))
            ? await reportFeeds(database.db, settings.explorer.pageSize)
            : [];
          if (options.json) writeJson(context, feeds);
          else if (feeds.length === 0) context.stdout('No feeds yet: run sync or start.\n');
          else context.stdout(statusText(feeds));
          return exitCodes.done;
        });
      }),
    );
}
