import { type Command, InvalidArgumentError } from 'commander';
import { addressProblem, defaultListen, parseAddress } from '../config/schema.ts';
import type { ListenAddress, Settings } from '../config/settings.ts';
import { addressText } from '../http/access.ts';
import { isAddressInUse, startHttp, type HttpServer } from '../http/server.ts';
import { outageStatus, statusNow } from '../status/status.ts';
import { webAssets } from '../web/bundle.ts';
import { packageVersion } from '../package-file.ts';
import { commandLineOf } from './command-line.ts';
import type { Context } from './context.ts';

/** The value of `--http`; true: no address was given. */
export interface HttpFlag {
  readonly http?: true | ListenAddress;
}

export function addHttp(command: Command, what: string): Command {
  return command.option('--http [address]', what, parseFlag);
}

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

interface Serving {
  readonly settings: Pick<Settings, 'http' | 'explorer'>;
  readonly works: boolean;
  /** A second address for health and metrics. */
  readonly metricsAddress: ListenAddress | null;
}

/** @throws ListenError */
export const servePage = (
  context: Context,
  address: ListenAddress,
  { settings, works, metricsAddress }: Serving,
): Promise<HttpServer> =>
  startHttp({
    address,
    metricsAddress,
    token: settings.http.token,
    hosts: settings.http.hosts,
    status: async (pool) => {
      try {
        return await statusNow(await pool(), settings.explorer.pageSize);
      } catch (error) {
        return outageStatus(new Date(), error);
      }
    },
    assets: webAssets,
    works,
    version: packageVersion(),
    commandLine: commandLineOf(context),
    now: () => performance.now(),
  });

/** Ports to try, from the usual one on. */
const tries = 10;

/** Serves the page on the usual port, or on the next free one. @throws ListenError */
export async function servePageNearby(context: Context, serving: Serving): Promise<HttpServer> {
  for (let port = defaultListen.port; ; port += 1) {
    try {
      const isLast = port === defaultListen.port + tries;
      return await servePage(context, { ...defaultListen, port: isLast ? 0 : port }, serving);
    } catch (error) {
      if (!isAddressInUse(error)) throw error;
    }
  }
}

export const urlOf = ({ address }: Pick<HttpServer, 'address'>): string =>
  `http://${addressText(address)}/`;
