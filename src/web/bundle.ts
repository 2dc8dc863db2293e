import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { getMimeType } from 'hono/utils/mime';
import type { BuildOptions } from 'rolldown';
import { packageFile } from '../package-file.ts';

let loaded: ReturnType<typeof load> | undefined;

/** The page's files by path: from the package, or bundled from the sources. */
export const webAssets = () => (loaded ??= load());

async function load() {
  // A clone runs the sources; its `dist` may be older.
  const files = await (extname(import.meta.filename) === '.ts' ? bundle() : read());
  const assets = files.map(({ name, body }) => {
    const type = getMimeType(name) ?? 'text/plain';
    return [name === 'index.html' ? '/' : `/${name}`, { type, body }] as const;
  });
  return new Map(assets);
}

async function read() {
  const folder = packageFile('dist/web');
  const names = await readdir(folder);
  return Promise.all(
    names.map(async (name) => ({ name, body: await readFile(join(folder, name)) })),
  );
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
