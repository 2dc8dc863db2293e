import type { SourceOptions } from '../app.ts';
import { requireApiKey } from '../config/settings.ts';
import { whileCurrent } from '../db/version.ts';
import { followWishes } from '../feeds/wishes.ts';
import { configuredLanes } from '../feeds/lanes.ts';
import { serve } from '../jobs/serve.ts';
import { awaitEngine } from './await-engine.ts';
import { addSameData } from './chosen-feeds.ts';
import { watchConfig } from './reload.ts';
import {
  writeDocument,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { exits } from './exits.ts';
import { logOf, settingsOf } from './setup.ts';
import { tellWhere } from './where.ts';

/** `start`: works on every feed by its schedule until SIGTERM. */
export function registerStart({ command, run }: Registry): void {
  addSameData(command)
    .addHelpText(
      'after',
      '\nAny number of these, on any number of machines, share the work of one database.\nSIGHUP makes it read its configuration again.\n\nExamples:\n  explorer-etl start\n  explorer-etl start --config explorer-etl.yaml --log-level debug\n',
    )
    .action(
      run<SourceOptions>(async (context, options) => {
        const settings = settingsOf(context, options);
        requireApiKey(settings);
        const log = logOf(context, options);
        const changesOf = watchConfig(context, options, log);
        const opened = await awaitEngine(settings, context, log, {
          source: options,
          onOpen: (database) => tellWhere(context, options, database),
        });
        let readyAt: Date | null = null;
        if (opened === null) return end(context, options, readyAt);
        const { database, engine } = opened;
        try {
          const lanes = configuredLanes(settings.chains);
          if (settings.configFile === null) await followWishes(database.db, lanes);
          readyAt = new Date();
          log.info({ lanes: lanes.length }, 'start.ready');
          await whileCurrent(database.pool, context.signal, (signal) =>
            serve(lanes, engine, signal, changesOf(engine)),
          );
          log.info('start.stopped');
        } finally {
          await engine.close();
          await database.close();
        }
        return end(context, options, readyAt);
      }),
    );
}

/** A signal is how it is told to end: nothing was interrupted. */
function end(context: Context, { json }: GlobalOptions, readyAt: Date | null): ExitCode {
  if (json) {
    writeDocument(context, {
      schema: 'explorer-etl/start/1',
      exit: exits.done,
      ready_at: readyAt?.toISOString() ?? null,
      stopped_at: new Date().toISOString(),
    });
  }
  return exits.done.code;
}
