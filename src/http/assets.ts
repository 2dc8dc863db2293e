import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Hono } from 'hono';
import { packageFile } from '../package-file.ts';

/** A file that the page loads. */
export interface Asset {
  readonly type: string;
  readonly body: string;
  readonly digest: string;
}

const types = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' } as const;

/** The page's styles, then those of single panels: one file to whoever loads it. */
const styles = ['page', 'verdict', 'coverage', 'charts', 'needs-you', 'why', 'explore'].map(
  (name) => () => packageFile(`src/page/assets/${name}.css`),
);

/** Every file that the page may load, and nothing else: no path of a request is ever looked for on a disk. */
const files: Readonly<Record<string, readonly (() => string)[]>> = {
  'page.css': styles,
  'icon.svg': [() => packageFile('src/page/assets/icon.svg')],
  'main.js': [() => packageFile('src/page/browser/main.js')],
  'idiomorph.js': [() => fileURLToPath(import.meta.resolve('idiomorph/dist/idiomorph.min.js'))],
};

/** A year: what carries its digest in its address never changes. */
const forEver = 'public, max-age=31536000, immutable';

/** What the page loads; none of it tells of anybody's data. */
export function createAssets(assets: ReadonlyMap<string, Asset>): Hono {
  return new Hono().get('/assets/:name', (context) => {
    const found = assets.get(context.req.param('name'));
    if (found === undefined) return context.notFound();
    const isNewest = new URL(context.req.url).search === `?${found.digest}`;
    return context.body(found.body, 200, {
      'content-type': found.type,
      'cache-control': isNewest ? forEver : 'no-cache',
    });
  });
}

/** The path of an asset, with the digest of its content. */
export const pathsOf =
  (assets: ReadonlyMap<string, Asset>) =>
  (name: string): string =>
    `/assets/${name}?${assets.get(name)?.digest ?? ''}`;

/** Reads them all, once. */
export function readAssets(): ReadonlyMap<string, Asset> {
  return new Map(Object.entries(files).map(([name, parts]) => [name, readAsset(name, parts)]));
}

function readAsset(name: string, parts: readonly (() => string)[]): Asset {
  const body = parts.map((fileOf) => readFileSync(fileOf(), 'utf8')).join('\n');
  const type = `${types[name.split('.').at(-1) as keyof typeof types]}; charset=utf-8`;
  return { type, body, digest: createHash('sha256').update(body).digest('hex').slice(0, 16) };
}
