import { html, type Html } from './html.ts';

/** Asks for the token. */
export const signIn = (options: {
  readonly wasWrong: boolean;
  readonly asset: (name: string) => string;
}): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Sign in · explorer-etl</title>
        <link rel="icon" href="${options.asset('icon.svg')}" type="image/svg+xml" />
        <link rel="stylesheet" href="${options.asset('page.css')}" />
      </head>
      <body>
        <main>
          <h1>explorer-etl</h1>
          <form method="post" action="/sign-in">
            <p>
              <label for="token">Token (EXPLORER_ETL_HTTP_TOKEN of the program)</label>
            </p>
            <p>
              <input
                id="token"
                name="token"
                type="password"
                autocomplete="current-password"
                required
              />
              <button>Sign in</button>
            </p>
            ${
              options.wasWrong
                ? html`<p class="bad" role="alert">This is not the token.</p>`
                : html`<p class="quiet">This page only reads.</p>`
            }
          </form>
        </main>
      </body>
    </html>`;
