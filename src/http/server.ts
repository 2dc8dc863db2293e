import { awayStatus } from '../report/status-document.ts';
import { statusOrOutage } from '../report/status-now.ts';
import { isLoopback, type Address } from './address.ts';
import type { Database } from '../db/transaction.ts';
import { createApp, createMonitoring, type Access } from './app.ts';
import { createPulse, type Pulse } from './health.ts';
import { listen, ListenError, type Bounds, type Listening } from './listen.ts';
import { createReader, type Source } from './reader.ts';
import type { Metrics } from './metrics.ts';
import { createSnapshots, type Rest, type Snapshots } from './snapshots.ts';

export interface HttpOptions extends Access {
  readonly address: Address;
  /** Where health and metrics are too, and no token is asked for; null: nowhere. */
  readonly metricsAddress: Address | null;
  readonly pageSize: number;
  /** Whether something works in rounds here, whose turning is a part of health. */
  readonly works: boolean;
  /** Makes the answer to /metrics, from the connection of status; absent: there is none. */
  readonly metrics?: (snapshots: Snapshots, db: Database) => Metrics;
  /** A command as this user calls it. */
  readonly called: (command: string) => string;
  /** Replaces the usual one. */
  readonly rest?: Rest;
  /** Replace the usual ones. */
  readonly bounds?: Partial<Bounds>;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

/** The page, health, status and metrics, served. */
export interface HttpServer {
  readonly address: Address;
  readonly metricsAddress: Address | null;
  readonly snapshots: Snapshots;
  readonly pulse: Pulse;
  /** Names the database, once it is known; until then it is told as away. */
  use(source: Source): void;
  close(): Promise<void>;
}

/** @throws ListenError where it can't listen, or would show one's data to everybody */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const { address, metricsAddress, token, hosts, pageSize, works, called, now } = options;
  demandToken(address, token);
  const ending = new AbortController();
  const { signal } = ending;
  // Two, so that nobody who looks something up keeps health and metrics waiting.
  const reader = createReader();
  const watcher = createReader();
  const pulse = createPulse(now);
  const snapshots = createSnapshots({
    read: async () =>
      watcher.isNamed
        ? statusOrOutage(watcher.pool, pageSize)
        : awayStatus(new Date(), 'the database is being opened'),
    now,
    rest: options.rest,
    signal,
  });
  const metrics = options.metrics?.(snapshots, watcher.db) ?? null;
  const sources = {
    reader,
    snapshots,
    pulse: works ? pulse : null,
    metrics,
    called,
    signal,
  };
  const servers: Listening[] = [];
  const close = async () => {
    ending.abort();
    metrics?.close();
    await Promise.all(servers.map((server) => server.close()));
    await Promise.all([reader.close(), watcher.close()]);
  };
  try {
    const page = await listen(createApp(sources, { token, hosts }), address, options.bounds);
    servers.push(page);
    const monitoring =
      metricsAddress === null
        ? null
        : await listen(
            createMonitoring(sources, isLoopback(metricsAddress) ? hosts : null),
            metricsAddress,
          );
    if (monitoring !== null) servers.push(monitoring);
    return {
      address: page.address,
      metricsAddress: monitoring?.address ?? null,
      snapshots,
      pulse,
      use(source) {
        reader.use(source);
        watcher.use(source);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function demandToken(address: Address, token: string | null): void {
  if (token !== null || isLoopback(address)) return;
  throw new ListenError(
    `${address.host} is reached from other machines: put a token into EXPLORER_ETL_HTTP_TOKEN (or the path of a file that holds it into EXPLORER_ETL_HTTP_TOKEN_FILE), or listen on 127.0.0.1.`,
  );
}
