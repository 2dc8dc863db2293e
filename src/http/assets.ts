import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { MiddlewareHandler } from 'hono';
import { getMimeType } from 'hono/utils/mime';
import type { BuildOptions } from 'rolldown';
import { packageFile } from '../package-file.ts';

/** Files of the page by path, such as `/app.js`. */
export type Assets = ReadonlyMap<
  string,
  { readonly type: string; readonly body: string | Uint8Array }
>;

/** Serves only the page's files, which contain no data: no request reads a path of the disk. */
export function serveAssets(load: () => Promise<Assets>): MiddlewareHandler {
  let assets: Promise<Assets> | null = null;
  return async (context, next) => {
    assets ??= load();
    assets.catch(() => (assets = null));
    const found = (await assets).get(context.req.path);
    if (found === undefined) return next();
    return context.body(found.body as string, 200, { 'content-type': found.type });
  };
}

/** The page's files: from the package, or bundled from the sources. */
export async function webAssets(): Promise<Assets> {
  // A clone runs the sources; its `dist` may be older.
  const files = await (extname(import.meta.filename) === '.ts' ? bundle() : readPackage());
  return new Map(files.map(({ name, body }) => [pathOf(name), { type: typeOf(name), body }]));
}

const pathOf = (name: string) => (name === 'index.html' ? '/' : `/${name}`);
const typeOf = (name: string) => getMimeType(name) ?? 'text/plain';

async function readPackage() {
  const folder = packageFile('dist/web');
  const read = async (name: string) => ({ name, body: await readFile(join(folder, name)) });
  return Promise.all((await readdir(folder)).map(read));
}

async function bundle() {
  // Only a clone has the bundler.
  const { build } = await import('rolldown');
  const config: { page: BuildOptions } = await import(packageFile('rolldown.config.js'));
  const { output } = await build(config.page);
  return output.map((file) => {
    return { name: file.fileName, body: file.type === 'asset' ? file.source : file.code };
  });
}
