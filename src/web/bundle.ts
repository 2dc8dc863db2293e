import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { packageFile } from '../package-file.ts';

/** A file that the page loads. */
interface WebAsset {
  readonly type: string;
  readonly body: Uint8Array;
}

/** Every file of the page: its path, where the built package keeps it, and its type. */
const files = {
  '/': ['index.html', 'text/html'],
  '/app.js': ['app.js', 'text/javascript'],
  '/app.css': ['app.css', 'text/css'],
  '/icon.svg': ['icon.svg', 'image/svg+xml'],
} as const;

/** The program runs from its sources, so what was built may be older than they are. */
const isSource = extname(import.meta.filename) === '.ts';

let assets: Promise<ReadonlyMap<string, WebAsset>> | undefined;

/** The files of the page by their paths: as they were built with the package, or bundled now from the sources. */
export const webAssets = (): Promise<ReadonlyMap<string, WebAsset>> => (assets ??= readAssets());

async function readAssets(): Promise<ReadonlyMap<string, WebAsset>> {
  return new Map(
    await Promise.all(
      Object.entries(files).map(async ([path, [name, type]]) => {
        const body = isSource
          ? await bundled(name)
          : await readFile(packageFile(`dist/web/${name}`));
        return [path, { type: `${type}; charset=utf-8`, body }] as const;
      }),
    ),
  );
}

async function bundled(name: string): Promise<Uint8Array> {
  const source = (file: string) => readFile(packageFile(`src/web/${file}`));
  if (name === 'app.js') return Buffer.from(await script());
  if (name !== 'app.css') return source(name);
  const chart = createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css');
  return Buffer.concat([await readFile(chart), Buffer.from('\n'), await source('style.css')]);
}

/** rolldown is needed in a clone only, and takes time to load. */
async function script(): Promise<string> {
  const { build } = await import('rolldown');
  const { output } = await build({
    input: packageFile('src/web/app.tsx'),
    platform: 'browser',
    tsconfig: packageFile('src/web/tsconfig.json'),
    write: false,
    output: { format: 'esm', minify: true },
  });
  return output[0].code;
}
