import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import type { Pool } from 'pg';
import { isLoopback } from '../config/schema.ts';
import { codeOfFailure } from '../db/failure.ts';
import { errorOf } from '../failure.ts';
import { isChanging } from '../status/lanes.ts';
import { withFault } from '../status/outages.ts';
import { isKnown } from '../status/status.ts';
import type { StatusDocument } from '../status/schema.ts';
import {
  type Access,
  type Address,
  addressText,
  headers,
  knownHosts,
  ownSite,
  requireToken,
  uncached,
} from './access.ts';
import { createApi } from './api.ts';
import { type Assets, serveAssets } from './assets.ts';
import { boundClients } from './clients.ts';
import { createMetrics } from './metrics.ts';
import { createReader } from './reader.ts';

export interface HttpOptions extends Access {
  readonly address: Address;
  /** A second address for health and metrics, without a token; null: none. */
  readonly metricsAddress: Address | null;
  /** Never rejects: an outage is a status too. */
  readonly status: (pool: () => Promise<Pool>) => Promise<StatusDocument>;
  readonly assets: () => Promise<Assets>;
  readonly version: string;
  readonly commandLine: (command: string) => string;
  readonly bounds?: Partial<Limits>;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

export type HttpServer = Awaited<ReturnType<typeof startHttp>>;

/** The server cannot listen on the address. The message says what to do. */
export class ListenError extends errorOf('listen') {}

/** Serves the page, its JSON, health and metrics. @throws ListenError */
export async function startHttp(options: HttpOptions) {
  const { address, metricsAddress, token, hosts, version, now } = options;
  if (token === null && !isLoopback(address)) throw new ListenError(tokenProblem(address));
  const reader = createReader();
  const pulse = createPulse(now);
  let fault: unknown = null;
  const read = async () => {
    const status = await options.status(() => reader.pool());
    return fault === null || !isKnown(status) ? status : withFault(status, fault, 'cannot be used');
  };
  const snapshots = createSnapshots(read, now);
  const metrics = createMetrics(() => snapshots.recent(), version);
  const servers: Server[] = [];
  const close = async () => {
    metrics.close();
    await Promise.all(servers.map(closed));
    await reader.close();
  };
  const listenOn = async (app: Hono, wanted: Address) => {
    const server = await listen(app, wanted, options.bounds);
    servers.push(server);
    return { ...wanted, port: (server.address() as AddressInfo).port };
  };
  const probes = probesOf(pulse, snapshots);
  const page = new Hono().use(headers(), uncached, knownHosts({ token, hosts }), ownSite);
  page.route('/', probes(token === null)).get('*', serveAssets(options.assets));
  if (token !== null) page.use(requireToken(token));
  page.get('/metrics', metrics.handler);
  page.route('/', createApi({ ...options, reader, status: () => snapshots.newest() }));
  const monitoring = new Hono().use(headers(), uncached);
  // Any host name is valid for an address that other machines reach.
  if (metricsAddress !== null && isLoopback(metricsAddress)) {
    monitoring.use(knownHosts({ token: null, hosts }));
  }
  monitoring.use(ownSite).route('/', probes(true)).get('/metrics', metrics.handler);
  try {
    return {
      address: await listenOn(page, address),
      metricsAddress: metricsAddress === null ? null : await listenOn(monitoring, metricsAddress),
      pulse,
      /** Sets why the work cannot use the database, which the status may not show; null: it can. */
      report: (error: unknown) => void (fault = error),
      use: (url: string) => reader.use(url),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A round of a few seconds that takes this long hangs, in ms; a wait for the database ends sooner. */
const stuckMs = 180_000;

type Pulse = ReturnType<typeof createPulse>;

/** Whether rounds still run; `now` is monotonic, in ms. */
export function createPulse(now: () => number) {
  let beatMs: number | null = null;
  return {
    beat: () => void (beatMs = now()),
    /** For `/healthz`. Healthy before the first round, and if nothing works: the process serves. */
    health() {
      const ageMs = beatMs === null ? null : now() - beatMs;
      return {
        is_healthy: ageMs === null || ageMs < stuckMs,
        last_round_s: ageMs === null ? null : Math.round(ageMs / 1000),
      };
    },
  };
}

const tokenProblem = ({ host }: Address) =>
  `Other machines reach ${host}: put a token into EXPLORER_ETL_HTTP_TOKEN (or the path of a file that holds it into EXPLORER_ETL_HTTP_TOKEN_FILE), or listen on 127.0.0.1.`;

/** @returns probes for readers of whole reasons, which may quote the explorer, and for others */
const probesOf = (pulse: Pulse, snapshots: Snapshots) => (isOpen: boolean) =>
  new Hono()
    .get('/healthz', (context) => {
      const health = pulse.health();
      return context.json(health, health.is_healthy ? 200 : 503);
    })
    .get('/readyz', async (context) => {
      const { overall, reasons } = await snapshots.newest();
      const blocking = reasons.filter(({ blocks_readiness }) => blocks_readiness);
      const isReady = blocking.length === 0;
      const shown = isOpen ? blocking : blocking.map(({ code }) => ({ code }));
      return context.json(
        { is_ready: isReady, state: overall.state, reasons: shown },
        isReady ? 200 : 503,
      );
    });

/** Limits of a client, in ms and bytes. */
const usualBounds = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 5_000,
  /** Idle time without reads or writes; the slowest query is shorter. */
  silentTimeout: 60_000,
};
export type Limits = typeof usualBounds;

async function listen(app: Hono, wanted: Address, bounds: Partial<Limits> = {}): Promise<Server> {
  const { silentTimeout, ...serverOptions } = { ...usualBounds, ...bounds };
  const server = createServer(serverOptions);
  boundClients(server, getRequestListener(app.fetch));
  server.setTimeout(silentTimeout);
  server.listen({ host: wanted.host, port: wanted.port });
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    throw new ListenError(explain(error, wanted), { cause: error });
  }
}

async function closed(server: Server): Promise<void> {
  const end = server[Symbol.asyncDispose]();
  server.closeAllConnections();
  await end;
}

/** Whether another program uses the address. */
export const isAddressInUse = (error: unknown): boolean =>
  error instanceof ListenError && codeOfFailure(error) === 'EADDRINUSE';

function explain(error: unknown, wanted: Address): string {
  const where = addressText(wanted);
  const code = codeOfFailure(error) ?? 'unknown error';
  const isForeign = code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND';
  if (code === 'EADDRINUSE')
    return `${where} is in use by another program: name another port, or 0 for any that is free.`;
  if (code === 'EACCES') return `this user may not listen on ${where}: name a port above 1023.`;
  if (isForeign)
    return `this machine has no address ${wanted.host}: name one that it has, such as 127.0.0.1.`;
  return `cannot listen on ${where} (${code}).`;
}

/** Pause between reads, as a multiple of the last one's duration, within limits in ms: a fiftieth of a core at rest. */
const calm = { times: 50, leastMs: 1_000, mostMs: 30_000 };
/** While the status changes, people watch, and the work itself slows a read down. */
const busy = { times: 5, leastMs: 1_000, mostMs: 3_000 };
/** How long a scrape waits for a read: with an old one, and without, in ms. */
const promptMs = 20;
const longestMs = 5_000;
/** Maximum age of a scrape's read, in ms. */
const recentMs = 60_000;

type Snapshots = ReturnType<typeof createSnapshots>;

/** Reads the status once for all clients. `read` never rejects; `now` is monotonic, in ms. */
export function createSnapshots(read: () => Promise<StatusDocument>, now: () => number) {
  let coming: { readonly status: Promise<StatusDocument>; goodUntilMs: number } | null = null;
  let last: { readonly status: StatusDocument; readonly atMs: number } | null = null;

  /** Some seconds old at most; never rejects. */
  const newest = async (): Promise<StatusDocument> => {
    if (coming !== null && now() < coming.goodUntilMs) return coming.status;
    const begun = now();
    const mine = { status: read(), goodUntilMs: Infinity };
    coming = mine;
    const status = await mine.status;
    last = { status, atMs: now() };
    const { times, leastMs, mostMs } = isChanging(status) ? busy : calm;
    const pauseMs = times * (last.atMs - begun);
    mine.goodUntilMs = last.atMs + Math.min(Math.max(leastMs, pauseMs), mostMs);
    return status;
  };

  return {
    newest,
    /** For a scrape, which cannot wait: a minute old at most; null: none in time. */
    async recent(): Promise<StatusDocument | null> {
      const old = last !== null && now() - last.atMs < recentMs ? last.status : null;
      const ended = new AbortController();
      const late = delay(old === null ? longestMs : promptMs, old, { signal: ended.signal });
      late.catch(() => undefined);
      const status = await Promise.race([newest(), late]);
      ended.abort();
      return status;
    },
  };
}
