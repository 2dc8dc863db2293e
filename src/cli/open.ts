import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { addressProblem, defaultListen, parseAddress } from '../config/schema.ts';
import type { ListenAddress, Settings } from '../config/settings.ts';
import { addressText } from '../http/access.ts';
import { webAssets } from '../http/assets.ts';
import { isAddressInUse, startHttp, type HttpServer } from '../http/server.ts';
import { packageVersion } from '../package-file.ts';
import { statusOrOutage } from '../status/status.ts';
import { exits, type Context, type Registry } from './context.ts';
import { openFor, readSettings } from './database.ts';

/** `open --json`: written once the server listens; `open` then waits for a signal. */
export const openDocument = z.strictObject({
  schema: z.literal('explorer-etl/open/1'),
  url: z.string(),
});

/** `open`: serves the page of the stored data until Ctrl-C, and does no work on it. */
export function register({ command, run, explain }: Registry): void {
  const where = 'where to serve it; default: 127.0.0.1:4400, or a free port';
  addHttp(command, where).option('--no-browser', 'only print its address', true).action(run(open));
  explain(
    ['explorer-etl open', 'explorer-etl open --demo --no-browser'],
    'start serves the same page with --http.',
  );
}

async function open(context: Context, options: HttpFlag & { readonly browser: boolean }) {
  const settings = readSettings(context, {}, 'database');
  await using database = await openFor(settings, context, 'reads');
  const address = wantedAddress(options, settings);
  await using server = await servePage(context, settings, { address, works: false });
  const url = urlOf(server);
  server.use(database.url);
  context.print(openDocument, { url }, `${url}   Ctrl-C ends it\n`);
  // Without a terminal, no person is there to look. Without a browser, the printed URL is enough.
  if (options.browser && context.out.isTerminal && !context.json) {
    const { default: openInBrowser } = await import('open');
    const started = await openInBrowser(url).catch(() => null);
    started?.on('error', () => undefined);
  }
  await context.untilStopped();
  return exits.done;
}

/** The value of `--http`; true: no address was given. */
export interface HttpFlag {
  readonly http?: true | ListenAddress;
}

export const addHttp = (command: Command, what: string): Command =>
  command.option('--http [address]', what, parseFlag);

function parseFlag(written: string): ListenAddress {
  const parsed = parseAddress(written);
  if (parsed === null) throw new InvalidArgumentError(`${addressProblem(written)}.`);
  return parsed;
}

/** Where to serve the page; null: not requested. The flag takes precedence over the file. */
export function wantedAddress(
  { http: flag }: HttpFlag,
  { http }: Pick<Settings, 'http'>,
): ListenAddress | null {
  if (flag === true) return http.listen ?? defaultListen;
  return flag ?? http.listen;
}

/** Serves the page; without an address on the usual port, or a free one. @throws ListenError */
export async function servePage(
  { commandLine }: Context,
  { http, explorer }: Pick<Settings, 'http' | 'explorer'>,
  { address: wanted, works }: { readonly address: ListenAddress | null; readonly works: boolean },
): Promise<HttpServer> {
  const serveAt = (address: ListenAddress) =>
    startHttp({
      address,
      metricsAddress: works ? http.metrics : null,
      token: http.token,
      hosts: http.hosts,
      status: (pool) => statusOrOutage(pool, explorer.pageSize),
      assets: webAssets,
      version: packageVersion(),
      commandLine,
      now: () => performance.now(),
    });
  if (wanted !== null) return serveAt(wanted);
  try {
    return await serveAt(defaultListen);
  } catch (error) {
    if (!isAddressInUse(error)) throw error;
    return serveAt({ ...defaultListen, port: 0 });
  }
}

export const urlOf = ({ address }: Pick<HttpServer, 'address'>): string =>
  `http://${addressText(address)}/`;
