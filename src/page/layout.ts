import { html, type Html } from './html.ts';

/** A panel as it stands in the page. */
export interface PanelFrame {
  readonly id: string;
  readonly title: string;
  readonly body: Html;
}

/** What the page is told of itself. */
export interface PageOptions {
  /** In the title of the window: how all is, in a word. */
  readonly verdict: string;
  readonly panels: readonly PanelFrame[];
  /** The path of an asset, with the digest of its content. */
  readonly asset: (name: string) => string;
}

/** The whole page. It reads well without script and without style. */
export const layout = ({ verdict, panels, asset }: PageOptions): Html =>
  html`<!doctype html>
    <html lang="en">
      ${head(verdict, asset)}
      <body>
        <header>
          <a class="skip" href="#main">Skip to the panels</a>
          <h1>explorer-etl</h1>
          <nav aria-label="Panels">
            ${panels.map(({ id, title }) => html`<a href="#${id}">${title}</a>`)}
          </nav>
          <p id="connection" class="quiet" role="status"></p>
        </header>
        <main id="main">${panels.map(section)}</main>
        <footer class="quiet">All times are UTC. This page only reads.</footer>
      </body>
    </html>`;

/** The page without data, for a browser that shows no token yet: its script fetches the rest with the token it keeps. */
export const tokenPage = (asset: PageOptions['asset']): Html =>
  html`<!doctype html>
    <html lang="en">
      ${head('token needed', asset)}
      <body id="token-page">
        <main>
          <h1>explorer-etl</h1>
          <p role="alert">
            The token is missing or wrong. Add it to the end of this address:
            <code>#token=…</code>
          </p>
        </main>
      </body>
    </html>`;

const head = (title: string, asset: PageOptions['asset']): Html =>
  html`<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title} · explorer-etl</title>
    <link rel="icon" href="${asset('icon.svg')}" type="image/svg+xml" />
    <link rel="stylesheet" href="${asset('page.css')}" />
    <script src="${asset('idiomorph.js')}" defer></script>
    <script src="${asset('main.js')}" type="module"></script>
  </head>`;

const section = ({ id, title, body }: PanelFrame): Html =>
  html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    <div id="${id}-panel" class="panel">${body}</div>
  </section>`;

/** In place of a panel where nothing was ever read. */
export const newPanel = (): Html =>
  html`<p class="quiet">Nothing was read into this database yet.</p>`;

/** In place of a panel that tells of what the status knows, where it knows nothing. */
export const unknownPanel = (): Html =>
  html`<p class="warning">Not known now: the verdict says why.</p>`;

/** In place of a panel whose facts could not be read. */
export const brokenPanel = (message: string): Html =>
  html`<p class="bad">This can't be shown now: ${message}</p>`;
