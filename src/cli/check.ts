import { z } from 'zod';
import { asTyped } from '../config/load.ts';
import { configuredFeeds } from '../sync/targets.ts';
import { openDatabase } from '../open-database.ts';
import { printable } from '../printable.ts';
import type { Look } from '../terminal/look.ts';
import { counted } from '../terminal/numbers.ts';
import { paint } from '../terminal/paint.ts';
import { wrap } from '../terminal/width.ts';
import { creditsPerPage } from '../sync/ledger.ts';
import {
  checkDatabase,
  checkExplorer,
  checkOf,
  checkSchema,
  keySchema,
  type Check,
  type ExplorerChecks,
} from './check-parts.ts';
import { addFeedOptions, type ChosenFeeds } from './chosen-feeds.ts';
import { addHelp, commandLineOf } from './command-line.ts';
import {
  exits,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { demoSettings } from './demo-world.ts';
import { addDemo, placeOf, type DemoOption } from './existing.ts';
import { printAnswer } from './print.ts';
import { settingsOf } from './setup.ts';

/** `check --json`. */
export const checkDocument = z.strictObject({
  schema: z.literal('explorer-etl/check/2'),
  checks: z.array(checkSchema),
  /** Empty with --no-requests. */
  keys: z.array(keySchema),
});

interface CheckOptions extends ChosenFeeds, DemoOption {
  readonly requests: boolean;
}

/** `check`: whether configuration, database and API work. */
export function registerCheck({ command, run }: Registry): void {
  addDemo(addFeedOptions(command))
    // Its default has to be stated: commander finds it only of options that are there before it parses.
    .option('--no-requests', `make no request (each feed's costs ${creditsPerPage} credits)`, true);
  addHelp(
    command,
    (line) => `
Examples:
  ${line('explorer-etl check')}
  ${line('explorer-etl check --chain optimism --no-requests')}`,
  ).action(run<CheckOptions>(check));
}

async function check(context: Context, options: CheckOptions & GlobalOptions): Promise<ExitCode> {
  const isDemo = options.demo === true;
  const settings = isDemo ? demoSettings(context, options) : settingsOf(context, options);
  const { configFile, chains } = settings;
  const place = await placeOf(context, settings, options);
  const database = await openDatabase(settings, place);
  try {
    const file = configFile === null ? 'no file, flags only' : asTyped(configFile, context.cwd);
    const feeds = configuredFeeds(chains).length;
    const stored = await checkDatabase(settings, database);
    // The demo's explorer ends with the demo.
    const { checks: served, keys }: ExplorerChecks =
      options.requests && !isDemo
        ? await checkExplorer(settings, database, context.signal)
        : { checks: [checkOf('explorer', 'not tested')], keys: [] };
    const checks = [
      checkOf(
        'configuration',
        `${file}: ${counted(chains.length, 'chain')}, ${counted(feeds, 'feed')}`,
      ),
      ...stored,
      ...served,
    ];
    // Flags alone would have to be given again.
    const next = configFile === null ? 'explorer-etl init' : 'explorer-etl sync';
    return printAnswer(context, options, {
      schema: checkDocument,
      fields: { checks, keys: [...keys] },
      text: () => checkText(checks, context.out, commandLineOf(place)(next)),
      exit: hasFailed(checks) ? exits.failed : exits.done,
    });
  } finally {
    await database.close();
  }
}

const hasFailed = (checks: readonly Check[]) => checks.some(({ state }) => state === 'failed');

/** Prose is no wider than this, however wide the terminal is. */
const mostProse = 100;
const labels = { ok: 'ok    ', failed: 'FAIL  ', warning: 'warn  ' } as const;
const styles = { ok: 'good', failed: 'bad', warning: 'warning' } as const;

/** A line for each check; then the next command, unless one has failed. */
export function checkText(checks: readonly Check[], look: Look, next: string): string {
  const lines = checks.flatMap(({ name, state, message }) => {
    const label = labels[state];
    const text = printable(`${name}: ${message}`);
    const [first = '', ...rest] = wrap(text, Math.min(look.columns, mostProse) - label.length);
    return [
      paint(look, styles[state], label) + first,
      ...rest.map((more) => ' '.repeat(label.length) + more),
    ];
  });
  const end = hasFailed(checks) ? [] : ['', `Next:  ${paint(look, 'command', next)}`];
  return `${[...lines, ...end].join('\n')}\n`;
}
