import { once } from 'node:events';
import openInBrowser from 'open';
import { z } from 'zod';
import { directUrlOf } from '../app.ts';
import { openDatabase } from '../open-database.ts';
import { printable } from '../printable.ts';
import { exitCodes, type Context, type GlobalOptions, type Registry } from './context.ts';
import { existing, settingsOf } from './database.ts';
import { addHttp, servePage, urlOf, wantedAddress, type HttpFlag } from './http.ts';
import { addDemo, addExamples, type DemoOption } from './options.ts';
import { printAnswer } from './print.ts';

/** `open --json`: written once the server listens; `open` then waits for a signal. */
export const openDocument = z.strictObject({
  schema: z.literal('explorer-etl/open/1'),
  url: z.string(),
});

interface OpenOptions extends HttpFlag, DemoOption, GlobalOptions {
  readonly browser: boolean;
}

/** `open`: serves the page of the stored data until Ctrl-C, and does no work on it. */
export function register({ command, run }: Registry): void {
  const where = 'where to serve it; default: 127.0.0.1:4400, or a free port';
  addDemo(addHttp(command, where))
    .option('--no-browser', 'only print its address', true)
    .action(run(open));
  addExamples(
    command,
    ['explorer-etl open', 'explorer-etl open --demo --no-browser'],
    'start serves the same page with --http.',
  );
}

async function open(context: Context, options: OpenOptions) {
  const settings = settingsOf(context, options, 'database');
  const place = await existing(context, settings, options);
  const database = await openDatabase(settings, place);
  try {
    const serving = { settings, works: false, metricsAddress: null };
    const server = await servePage(place, wantedAddress(options, settings), serving);
    const url = urlOf(server);
    try {
      server.use({ url: database.url, directUrl: directUrlOf(settings, database) });
      const text = `${printable(url)}   Ctrl-C ends it\n`;
      printAnswer(context, options, openDocument, { url }, text);
      // Without a terminal, no person is there to look. Without a browser, the printed URL is enough.
      if (options.browser && context.out.isTerminal && !options.json) {
        const started = await openInBrowser(url).catch(() => null);
        started?.on('error', () => undefined);
      }
      if (!context.signal.aborted) await once(context.signal, 'abort');
    } finally {
      await server.close();
    }
  } finally {
    await database.close();
  }
  return exitCodes.done;
}
