import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { packageFile } from '../package-file.ts';

/** A file that the page loads. */
interface WebAsset {
  readonly type: string;
  readonly body: Uint8Array;
}

type Assets = ReadonlyMap<string, WebAsset>;

/** Every file of the page: its name by its path, and its type. */
const files = [
  ['/', 'index.html', 'text/html'],
  ['/app.js', 'app.js', 'text/javascript'],
  ['/app.css', 'app.css', 'text/css'],
  ['/icon.svg', 'icon.svg', 'image/svg+xml'],
] as const;

type Name = (typeof files)[number][1];

/** Sources run only in a clone, where what was built may be older than they are. */
const read = extname(import.meta.filename) === '.ts' ? bundled : built;

let assets: Promise<Assets> | undefined;

/** The files of the page by their paths: as they were built with the package, or bundled now from the sources. */
export const webAssets = (): Promise<Assets> =>
  (assets ??= Promise.all(
    files.map(async ([path, name, type]) => {
      return [path, { type: `${type}; charset=utf-8`, body: await read(name) }] as const;
    }),
  ).then((entries) => new Map(entries)));

function built(name: Name): Promise<Uint8Array> {
  return readFile(packageFile(`dist/web/${name}`));
}

async function bundled(name: Name): Promise<Uint8Array> {
  if (name === 'app.js') return Buffer.from(await script());
  if (name !== 'app.css') return readFile(packageFile(`src/web/${name}`));
  const chart = createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css');
  const sheets = [chart, packageFile('src/web/style.css')];
  return Buffer.concat(await Promise.all(sheets.map((sheet) => readFile(sheet))));
}

/** A clone alone has the bundler. */
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
