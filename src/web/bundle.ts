import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { packageFile } from '../package-file.ts';

/** Every file of the page by its path: its name and its type. */
const files = {
  '/': ['index.html', 'text/html'],
  '/app.js': ['app.js', 'text/javascript'],
  '/app.css': ['app.css', 'text/css'],
  '/icon.svg': ['icon.svg', 'image/svg+xml'],
} as const;

/** Sources run only in a clone, whose `dist` may be older than they are. */
const isSource = extname(import.meta.filename) === '.ts';

async function load() {
  const assets = Object.entries(files).map(async ([path, [name, type]]) => {
    const body = await (isSource ? bundle(name) : readFile(packageFile(`dist/web/${name}`)));
    return [path, { type: `${type}; charset=utf-8`, body }] as const;
  });
  return new Map(await Promise.all(assets));
}

let loaded: ReturnType<typeof load> | undefined;

/** The files of the page by their paths: as the package holds them, or bundled now from the sources. */
export const webAssets = () => (loaded ??= load());

async function bundle(name: string): Promise<Buffer> {
  if (name === 'app.css') {
    const plotStyle = createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css');
    return Buffer.concat(
      await Promise.all(
        [plotStyle, packageFile('src/web/style.css')].map((file) => readFile(file)),
      ),
    );
  }
  if (name !== 'app.js') return readFile(packageFile(`src/web/${name}`));
  // A clone alone has the bundler.
  const { build } = await import('rolldown');
  const { output } = await build({
    input: packageFile('src/web/app.tsx'),
    platform: 'browser',
    tsconfig: packageFile('src/web/tsconfig.json'),
    write: false,
    output: { format: 'esm', minify: true },
  });
  return Buffer.from(output[0].code);
}
