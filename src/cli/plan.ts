import { prepareDatabase, type SourceOptions } from '../app.ts';
import { requireApiKey, type Settings } from '../config/settings.ts';
import { isPrepared } from '../db/prepared.ts';
import type { OpenDatabase } from '../open-database.ts';
import { creditsToday, sumCredits } from '../report/credits.ts';
import { planFeeds, planReport } from '../report/plan.ts';
import { creditsPerPage } from '../sync/ledger.ts';
import { addFeedOptions, addSameData, type ChosenFeeds, wholeNumber } from './chosen-feeds.ts';
import {
  type Context,
  exitCodes,
  type GlobalOptions,
  type Registry,
  UsageError,
  waitingOf,
  writeDocument,
} from './context.ts';
import { demoSettings } from './demo-settings.ts';
import { addDemo, type DemoOption, placeOf } from './existing.ts';
import { onDatabase } from './on-database.ts';
import { planText } from './plan-text.ts';
import { print } from './print.ts';
import { probeFeeds } from './probe.ts';
import { settingsOf } from './setup.ts';
import { tellWhere } from './where.ts';

interface PlanOptions extends ChosenFeeds, DemoOption, SourceOptions {
  readonly probe?: number | true;
}

/** Requests of a probe for each feed: a day of the free plan has 5,000, and they are not lost. */
const probeRequests = 100;

/** `plan`: what the configured feeds cost, once and each day, and how long they take. */
export function registerPlan({ command, run }: Registry): void {
  addDemo(addSameData(addFeedOptions(command)))
    .option(
      '--probe [n]',
      `read up to n (${probeRequests}) pages of each feed whose size is unknown; they are kept`,
      wholeNumber(1),
    )
    .addHelpText(
      'after',
      `
Without --probe it makes no request: it goes by what was read before.

Examples:
  explorer-etl plan
  explorer-etl plan --chain 10 --probe
`,
    )
    .action(
      run<PlanOptions>(async (context, options) => {
        const settings = planSettings(context, options);
        if (options.probe !== undefined) requireApiKey(settings);
        const place = await placeOf(context, settings, options);
        const access = options.probe === undefined ? 'reads' : 'writes';
        return onDatabase(settings, place, access, async (database) => {
          if (options.probe !== undefined) {
            tellWhere(context, options, database);
            await prepareDatabase(database, waitingOf(context));
            const feeds = toProbe(await planOf(settings, database));
            const requests = options.probe === true ? probeRequests : options.probe;
            if (feeds.size > 0) {
              await probeFeeds(context, options, settings, database, { feeds, requests });
            }
          }
          const report = await planOf(settings, database);
          const exit = context.signal.aborted
            ? ({ code: exitCodes.interrupted, reason: 'interrupted' } as const)
            : ({ code: exitCodes.done, reason: 'done' } as const);
          const document = { schema: 'explorer-etl/plan/1', exit, ...report } as const;
          if (options.json) writeDocument(context, document);
          else print(place, planText(document, context.out));
          return exit.code;
        });
      }),
    );
}

/** @throws UsageError where pages of the demo's explorer are to be read, which has ended */
function planSettings(context: Context, options: PlanOptions & GlobalOptions): Settings {
  if (options.demo !== true) return settingsOf(context, options);
  if (options.probe === undefined) return demoSettings(context, options);
  throw new UsageError("--probe reads pages, and the demo's explorer ends with it: leave one out.");
}

type PlanReport = ReturnType<typeof planReport>;

/** The feeds of which too little was read to estimate what is left. */
const toProbe = ({ history }: PlanReport): ReadonlySet<string> => new Set(history.unknown);

/** The plan as of now, from what is stored. */
async function planOf({ chains, explorer }: Settings, database: OpenDatabase): Promise<PlanReport> {
  const at = new Date();
  // Looking changes nothing, so it makes no tables either.
  const db = (await isPrepared(database.pool)) ? database.db : null;
  const feeds = await planFeeds(db, chains, { pageSize: explorer.pageSize, at });
  const { spent } = sumCredits(db === null ? [] : await creditsToday(db));
  return planReport(feeds, explorer, { at, spentToday: spent / creditsPerPage });
}
