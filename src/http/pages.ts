import { Hono } from 'hono';
import type { StatusDocument } from '../documents/status.ts';
import { describeDatabaseError } from '../db/failure.ts';
import type { Database } from '../db/transaction.ts';
import type { Html } from '../page/html.ts';
import { brokenPanel, layout } from '../page/layout.ts';
import { readAssets } from './assets.ts';
import type { Panel, PanelRequest } from './panel.ts';
import { panels } from './panels.ts';

export interface PageSources {
  /** The page's own connection. */
  readonly db: Database;
  /** The newest snapshot; where the database is away it says so. */
  readonly status: () => Promise<StatusDocument>;
  /** A command as this user calls it. */
  readonly called: (command: string) => string;
}

/** A year: what carries its digest in its address never changes. */
const forEver = 'public, max-age=31536000, immutable';

/** The page, its panels one by one, and what it loads. */
export function createPages({ db, status, called }: PageSources): Hono {
  const assets = readAssets();
  const asset = (name: string) => `/assets/${name}?${assets.get(name)?.digest ?? ''}`;
  const requestOf = async (url: string): Promise<PanelRequest> => ({
    db,
    status: await status(),
    query: new URL(url).searchParams,
    called,
  });
  const app = new Hono();
  app.get('/', async (context) => {
    const request = await requestOf(context.req.url);
    const frames = [];
    // One connection serves them, so side by side they would only wait for each other.
    for (const panel of panels) {
      frames.push({ id: panel.id, title: panel.title, body: await render(panel, request) });
    }
    return context.html(
      layout({ verdict: request.status.verdict.kind.replaceAll('-', ' '), panels: frames, asset }),
    );
  });
  app.get('/panels/:id', async (context) => {
    const panel = panels.find(({ id }) => id === context.req.param('id'));
    if (panel === undefined) return context.notFound();
    return context.html(await render(panel, await requestOf(context.req.url)));
  });
  app.get('/assets/:name', (context) => {
    const found = assets.get(context.req.param('name'));
    if (found === undefined) return context.notFound();
    const isNewest = new URL(context.req.url).search === `?${found.digest}`;
    return context.body(found.body, 200, {
      'content-type': found.type,
      'cache-control': isNewest ? forEver : 'no-cache',
    });
  });
  return app;
}

/** One panel that can't be read takes no other with it. */
const render = (panel: Panel, request: PanelRequest): Promise<Html> =>
  panel.render(request).catch((error: unknown) => brokenPanel(describeDatabaseError(error)));
