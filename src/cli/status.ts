import { statusNow, statusOrOutage } from '../status/status.ts';
import {
  exitCodes,
  UsageError,
  writeDocument,
  type Context,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { addDemo, placeOf, type DemoOption } from './existing.ts';
import { onDatabase } from './on-database.ts';
import { print } from './print.ts';
import { settingsOf } from './setup.ts';
import { statusText } from './status-text.ts';

const done = { code: exitCodes.done, reason: 'done' } as const;

interface StatusOptions extends DemoOption {
  readonly watch?: true;
}

/** `status`: the overall state, what each feed does, how current and complete it is, and what is left. */
export function registerStatus({ command, run }: Registry): void {
  addDemo(command)
    .option('--watch', 'redraw it every two seconds, until Ctrl-C')
    .addHelpText('after', '\nExamples:\n  explorer-etl status\n  explorer-etl status --watch\n')
    .action(
      run<StatusOptions>(async (context, options) => {
        if (options.watch) requireTerminal(context, options);
        const settings = settingsOf(context, options, 'database');
        const { pageSize } = settings.explorer;
        const place = await placeOf(context, settings, options);
        return onDatabase(settings, place, 'reads', async (database) => {
          if (options.watch) {
            const { watch } = await import('./watch.ts');
            await watch(place, async (look) =>
              statusText(await statusOrOutage(database.pool, pageSize), look),
            );
            return exitCodes.done;
          }
          const document = await statusNow(database.pool, pageSize);
          if (options.json) writeDocument(context, { ...document, exit: done });
          else print(place, statusText(document, context.out));
          return exitCodes.done;
        });
      }),
    );
}

/** @throws UsageError if there is no terminal to draw on */
function requireTerminal({ out }: Context, { json }: GlobalOptions): void {
  if (json)
    throw new UsageError(
      '--watch draws a screen, --json prints one document: leave one of them out.',
    );
  if (out.isTerminal) return;
  throw new UsageError('--watch needs a terminal to draw on: leave it out, or use --json.');
}
