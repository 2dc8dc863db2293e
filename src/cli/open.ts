import openInBrowser from 'open';
import { directUrlOf } from '../app.ts';
import type { HttpServer } from '../http/server.ts';
import { openDatabase } from '../open-database.ts';
import { printable } from '../printable.ts';
import {
  exitCodes,
  writeDocument,
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
import { print } from './print.ts';
import { settingsOf } from './setup.ts';

interface OpenOptions extends HttpFlag {
  readonly demo: boolean;
  readonly browser: boolean;
}

/** `open`: the page over what is stored, without working on it, until Ctrl-C. */
export function registerOpen({ command, run }: Registry): void {
  addHttp(command, 'where to serve it, such as 127.0.0.1:4400; default: a free port from 4400 on')
    .option('--demo', "the demo's database", false)
    .option('--no-browser', 'only say where it is')
    .addHelpText(
      'after',
      '\nstart serves the same page with --http.\n\nExamples:\n  explorer-etl open\n  explorer-etl open --demo --no-browser\n',
    )
    .action(run<OpenOptions>(open));
}

async function open(context: Context, options: OpenOptions & GlobalOptions): Promise<ExitCode> {
  const settings = settingsOf(context, options, 'database');
  const place = await existing(context, settings, options);
  const database = await openDatabase(settings, place);
  try {
    const serving = { settings, works: false, metricsAddress: null };
    const wanted = wantedAddress(options, settings);
    const server =
      wanted === null
        ? await servePageNearby(context, serving)
        : await servePage(context, wanted, serving);
    try {
      server.use({ url: database.url, directUrl: directUrlOf(settings, database) });
      tellPage(context, options, server);
      await ended(context.signal);
    } finally {
      await server.close();
    }
  } finally {
    await database.close();
  }
  return exitCodes.done;
}

function tellPage(
  context: Context,
  { json, browser }: OpenOptions & GlobalOptions,
  server: HttpServer,
): void {
  const url = urlOf(server);
  if (json) {
    const exit = { code: exitCodes.done, reason: 'done' } as const;
    writeDocument(context, { schema: 'explorer-etl/open/1', exit, url });
  } else print(context, `${printable(url)}   Ctrl-C ends it\n`);
  // Off a terminal nobody sits there. Where no browser is to be had, the line above says where to look.
  if (browser && context.out.isTerminal && !json) {
    void openInBrowser(url).then(
      (started) => started.on('error', () => undefined),
      () => undefined,
    );
  }
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
