import { Hono } from 'hono';
import { codeOfFailure, describeDatabaseError } from '../db/failure.ts';
import type { Database } from '../db/transaction.ts';
import type { StatusDocument } from '../documents/status.ts';
import type { Html } from '../page/html.ts';
import { brokenPanel, layout, newPanel } from '../page/layout.ts';
import { type Asset, pathsOf } from './assets.ts';
import type { Panel, PanelRequest } from './panel.ts';
import { panels } from './panels.ts';

export interface PageSources {
  /** The page's own connection. */
  readonly db: Database;
  /** The newest snapshot; where the database is away it says so. */
  readonly status: () => Promise<StatusDocument>;
  /** A command as this user calls it. */
  readonly called: (command: string) => string;
  readonly assets: ReadonlyMap<string, Asset>;
}

/** The page, and its panels one by one. */
export function createPages({ db, status, called, assets }: PageSources): Hono {
  const asset = pathsOf(assets);
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
      // Nobody waits for the others.
      if (context.req.raw.signal.aborted) return context.body(null, 503);
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
  return app;
}

/** A table or a schema that is not there. */
const absent: ReadonlySet<string | null> = new Set(['42P01', '3F000']);

/** One panel that can't be read takes no other with it. A database that was never read into has no tables yet. */
const render = (panel: Panel, request: PanelRequest): Promise<Html> =>
  panel.render(request).catch((error: unknown) => {
    const isNew = request.status.verdict.kind === 'never-read' && absent.has(codeOfFailure(error));
    return isNew ? newPanel() : brokenPanel(describeDatabaseError(error));
  });
