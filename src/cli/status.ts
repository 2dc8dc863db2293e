import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { statusDocument, type StatusDocument } from '../status/schema.ts';
import { statusNow, statusOrOutage } from '../status/status.ts';
import type { Look } from '../terminal/look.ts';
import { addHelp, commandLineOf, withCommands } from './command-line.ts';
import {
  exitCodes,
  UsageError,
  type Context,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { addDemo, placeOf, type DemoOption } from './existing.ts';
import { onDatabase } from './on-database.ts';
import { printAnswer } from './print.ts';
import { settingsOf } from './setup.ts';
import { statusText } from './status-text.ts';

interface StatusOptions extends DemoOption {
  readonly watch?: true;
}

/** `status`: the overall state, what each feed does, how current and complete it is, and what is left. */
export function registerStatus({ command, run }: Registry): void {
  addDemo(command).option('--watch', 'redraw it every two seconds, until Ctrl-C');
  addHelp(
    command,
    (line) => `
Examples:
  ${line('explorer-etl status')}
  ${line('explorer-etl status --watch')}`,
  ).action(
    run<StatusOptions>(async (context, options) => {
      if (options.watch) requireTerminal(context, options);
      const settings = settingsOf(context, options, 'database');
      const { pageSize } = settings.explorer;
      const place = await placeOf(context, settings, options);
      const commandLine = commandLineOf(place);
      const textOf = (document: StatusDocument, look: Look) =>
        statusText(withCommands(document, commandLine), look, commandLine);
      return onDatabase(settings, place, 'reads', async (database) => {
        if (options.watch) {
          await watch(place, async (look) =>
            textOf(await statusOrOutage(database.pool, pageSize), look),
          );
          return exitCodes.done;
        }
        const document = await statusNow(database.pool, pageSize);
        return printAnswer(context, options, {
          schema: statusDocument,
          fields: document,
          text: () => textOf(document, context.out),
        });
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

/** How often the screen is redrawn, in ms. */
const redrawMs = 2_000;
/** Reading the status takes a twentieth of a core at most. */
const restPerRead = 20;
/** Lines of the smallest terminal. */
const leastRows = 24;

/** Draws a text over the one before it, every two seconds, until the signal aborts. */
async function watch(context: Context, draw: (look: Look) => Promise<string>): Promise<void> {
  const { signal } = context;
  const screen = new Writable({
    write(chunk, _encoding, done) {
      context.stdout(String(chunk));
      done();
    },
  });
  // The terminal may be resized meanwhile.
  const size = () => context.size?.() ?? { columns: context.out.columns, rows: leastRows };
  const terminal = Object.defineProperties(Object.assign(screen, { isTTY: true }), {
    columns: { get: () => size().columns },
    rows: { get: () => size().rows },
  });
  const { createLogUpdate } = await import('log-update');
  const update = createLogUpdate(terminal as typeof terminal & NodeJS.WriteStream, {
    showCursor: true,
  });
  while (!signal.aborted) {
    const begun = performance.now();
    const text = await draw({ ...context.out, columns: size().columns });
    if (signal.aborted) break;
    // The overall state comes first: what does not fit is cut at the bottom.
    const lines = text.trimEnd().split('\n');
    update(lines.slice(0, Math.max(1, size().rows - 1)).join('\n'));
    const restMs = Math.max(redrawMs, restPerRead * (performance.now() - begun));
    await delay(restMs, undefined, { signal }).catch(() => undefined);
  }
  update.done();
}
