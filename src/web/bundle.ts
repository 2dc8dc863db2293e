import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { packageFile } from '../package-file.ts';

const files = {
  '/': ['index.html', 'text/html'],
  '/app.js': ['app.js', 'text/javascript'],
  '/app.css': ['app.css', 'text/css'],
  '/icon.svg': ['icon.svg', 'image/svg+xml'],
} as const;

/** A clone runs the sources; its `dist` may be older. */
const isSource = extname(import.meta.filename) === '.ts';

async function load() {
  const assets = Object.entries(files).map(async ([path, [name, type]]) => {
    const body = await (isSource ? bundle(name) : readFile(packageFile(`dist/web/${name}`)));
    return [path, { type: `${type}; charset=utf-8`, body }] as const;
  });
  return new Map(await Promise.all(assets));
}

let loaded: ReturnType<typeof load> | undefined;

/** The page's files by path: from the package, or bundled from the sources. */
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
  // Only a clone has the bundler.
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
