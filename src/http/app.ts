import { Hono } from 'hono';
import { createAssets, pathsOf, readAssets } from './assets.ts';
import { createEvents } from './events.ts';
import { tokenPage } from '../page/layout.ts';
import { demandToken, headers, knownHosts, ownSite, uncached } from './guard.ts';
import { healthOf, readinessOf, type Pulse } from './health.ts';
import { createPages } from './pages.ts';
import type { Metrics } from './metrics.ts';
import type { Reader } from './reader.ts';
import type { Snapshots } from './snapshots.ts';

/** What is served. */
export interface AppSources {
  readonly reader: Reader;
  readonly snapshots: Snapshots;
  /** Of what works in rounds here; null where nothing does. */
  readonly pulse: Pulse | null;
  /** The answer to /metrics; null where there is none. */
  readonly metrics: Metrics | null;
  /** A command as this user calls it. */
  readonly called: (command: string) => string;
  readonly signal: AbortSignal;
}

/** Who is let in. */
export interface Access {
  /** Null: everybody who reaches it. */
  readonly token: string | null;
  /** Further names by which browsers reach it. */
  readonly hosts: readonly string[];
}

/** All that is served with the page. */
export function createApp(sources: AppSources, { token, hosts }: Access): Hono {
  const { snapshots, signal } = sources;
  const assets = readAssets();
  const app = new Hono();
  app.use(headers(), uncached, knownHosts({ hosts, hasToken: token !== null }), ownSite);
  app.route('/', createProbes(sources, { isOpen: token === null }));
  app.route('/', createAssets(assets));
  if (token !== null) app.use(demandToken(token, tokenPage(pathsOf(assets))));
  app.get('/status.json', async (context) => context.json(await snapshots.newest()));
  app.get('/events', createEvents(snapshots, signal));
  serveMetrics(app, sources);
  const { reader, called } = sources;
  const status = () => snapshots.newest();
  app.route('/', createPages({ db: reader.db, status, called, assets }));
  return app;
}

/**
 * Health and metrics alone, for an address of their own.
 *
 * @param hosts names by which it is reached; null: any will do, because it is not this machine's alone
 */
export function createMonitoring(sources: AppSources, hosts: readonly string[] | null): Hono {
  const app = new Hono();
  app.use(headers(), uncached);
  if (hosts !== null) app.use(knownHosts({ hosts, hasToken: false }));
  app.use(ownSite);
  app.route('/', createProbes(sources, { isOpen: true }));
  serveMetrics(app, sources);
  return app;
}

/** @param isOpen whether reasons are told, which hold texts of the explorer */
function createProbes({ pulse, snapshots }: AppSources, { isOpen }: { isOpen: boolean }): Hono {
  return new Hono()
    .get('/healthz', (context) => {
      const health = healthOf(pulse);
      return context.json(health, health.is_healthy ? 200 : 503);
    })
    .get('/readyz', async (context) => {
      const readiness = readinessOf(await snapshots.newest());
      const kinds = readiness.reasons.map(({ kind }) => ({ kind }));
      const told = isOpen ? readiness : { ...readiness, reasons: kinds };
      return context.json(told, readiness.is_ready ? 200 : 503);
    });
}

function serveMetrics(app: Hono, { metrics }: AppSources): void {
  if (metrics === null) return;
  app.get('/metrics', async (context) =>
    context.body(await metrics.scrape(), 200, { 'content-type': metrics.contentType }),
  );
}
