import { type Command, InvalidArgumentError } from 'commander';
import { addressProblem, defaultListen, parseAddress } from '../config/schema.ts';
import type { ListenAddress, Settings } from '../config/settings.ts';
import { addressText } from '../http/access.ts';
import { isAddressInUse, startHttp, type HttpServer } from '../http/server.ts';
import { statusOrOutage } from '../status/status.ts';
import { webAssets } from '../web/bundle.ts';
import { packageVersion } from '../package-file.ts';
import { commandLineOf, type Context } from './context.ts';

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

interface Serving {
  readonly settings: Pick<Settings, 'http' | 'explorer'>;
  readonly works: boolean;
  /** A second address for health and metrics. */
  readonly metricsAddress: ListenAddress | null;
}

/** Serves the page; without an address on the usual port, or a free one. @throws ListenError */
export async function servePage(
  context: Context,
  wanted: ListenAddress | null,
  { settings, works, metricsAddress }: Serving,
): Promise<HttpServer> {
  const serveAt = (address: ListenAddress) =>
    startHttp({
      address,
      metricsAddress,
      token: settings.http.token,
      hosts: settings.http.hosts,
      status: (pool) => statusOrOutage(pool, settings.explorer.pageSize),
      assets: webAssets,
      works,
      version: packageVersion(),
      commandLine: commandLineOf(context),
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
