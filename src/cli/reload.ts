import { isDeepStrictEqual } from 'node:util';
import type { Engine } from '../app.ts';
import { ConfigError } from '../config/error.ts';
import { requireApiKey, type Settings } from '../config/settings.ts';
import type { Log } from '../log.ts';
import { OriginError } from '../sync/feeds.ts';
import type { ScheduleChanges } from '../sync/serve.ts';
import { configuredFeeds, configuredLanes, withTargets } from '../sync/targets.ts';
import type { Context, GlobalOptions } from './context.ts';
import { settingsOf } from './setup.ts';

/**
 * Reads the configuration again after each SIGHUP from now on. One that is wrong is told with all
 * its problems, and the one before it stays in force.
 *
 * @returns what makes the changes of a running engine's schedules
 */
export function watchConfig(
  context: Context,
  options: GlobalOptions,
  { http, log }: Pick<Settings, 'http'> & { readonly log: Log },
): (engine: Pick<Engine, 'reconfigure' | 'db'>) => ScheduleChanges {
  let isAsked = false;
  context.onReload?.(() => {
    isAsked = true;
  });
  return (engine) => async () => {
    if (!isAsked) return null;
    isAsked = false;
    const wanted = readAgain(context, options, log);
    if (wanted === null) return null;
    try {
      await engine.reconfigure(wanted);
    } catch (error) {
      if (error instanceof OriginError) {
        log.tell('config.refused', { problems: [error.message] });
        return null;
      }
      // The database is away: this reload is still owed.
      isAsked = true;
      throw error;
    }
    if (!isDeepStrictEqual(wanted.http, http)) log.tell('http.changed', {});
    const lanes = configuredLanes(await withTargets(engine.db, wanted.chains));
    log.tell('config.reloaded', { feeds: configuredFeeds(wanted.chains).length });
    return lanes;
  };
}

function readAgain(context: Context, options: GlobalOptions, log: Log): Settings | null {
  try {
    const wanted = settingsOf(context, options);
    // A chain may have been given a key that is not there.
    requireApiKey(wanted);
    return wanted;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.map(({ where, message }) =>
      where === null ? message : `${where}: ${message}`,
    );
    log.tell('config.refused', { problems });
    return null;
  }
}
