import { once } from 'node:events';
import openInBrowser from 'open';
import { z } from 'zod';
import { directUrlOf } from '../app.ts';
import { openDatabase } from '../open-database.ts';
import { printable } from '../printable.ts';
import { addHelp } from './command-line.ts';
import {
  exitCodes,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { existing } from './existing.ts';
import {
  addHttp,
  servePage,
  servePageNearby,
  urlOf,
  wantedAddress,
  type HttpFlag,
} from './http.ts';
import { printAnswer } from './print.ts';
import { settingsOf } from './setup.ts';

interface OpenOptions extends HttpFlag {
  readonly demo: boolean;
  readonly browser: boolean;
}

/** `open --json`: written once the server listens; `open` then waits for a signal. */
export const openDocument = z.strictObject({
  schema: z.literal('explorer-etl/open/1'),
  url: z.string(),
});

/** `open`: serves the page of the stored data until Ctrl-C, and does no work on it. */
export function registerOpen({ command, run }: Registry): void {
  addHttp(command, 'where to serve it, such as 127.0.0.1:4400; default: a free port from 4400 on')
    .option('--demo', "the demo's database", false)
    .option('--no-browser', 'only print its address');
  addHelp(
    command,
    (line) => `
start serves the same page with --http.

Examples:
  ${line('explorer-etl open')}
  ${line('explorer-etl open --demo --no-browser')}`,
  ).action(run<OpenOptions>(open));
}

async function open(context: Context, options: OpenOptions & GlobalOptions): Promise<ExitCode> {
  const settings = settingsOf(context, options, 'database');
  const place = await existing(context, settings, options);
  const database = await openDatabase(settings, place);
  try {
    const serving = { settings, works: false, metricsAddress: null };
    const wanted = wantedAddress(options, settings);
    const server = await (wanted === null
      ? servePageNearby(place, serving)
      : servePage(place, wanted, serving));
    const url = urlOf(server);
    try {
      server.use({ url: database.url, directUrl: directUrlOf(settings, database) });
      printAnswer(context, options, {
        schema: openDocument,
        fields: { url },
        text: () => `${printable(url)}   Ctrl-C ends it\n`,
      });
      // Without a terminal, no person is there to look.
      if (options.browser && context.out.isTerminal && !options.json) showPage(url);
      if (!context.signal.aborted) await once(context.signal, 'abort');
    } finally {
      await server.close();
    }
  } finally {
    await database.close();
  }
  return exitCodes.done;
}

/** Without a browser, the printed URL is enough. */
function showPage(url: string): void {
  void openInBrowser(url).then(
    (started) => started.on('error', () => undefined),
    () => undefined,
  );
}
