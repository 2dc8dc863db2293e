import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { build } from 'rolldown';

/** Their 200 files would be half of a start's processor time. What programs import uses npm's copies. */
const inlined = /^(?:drizzle-orm|zod)(?:\/|$)/u;
/** What the compiler itself adds. */
const helper = /^@oxc-project\/runtime\//u;

const web = `${import.meta.dirname}/src/web`;
const plotStyle = createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css');

/** The page's files that need no compiler: the style begins with the one of the charts. */
const addFiles = {
  name: 'files',
  async generateBundle() {
    const sources = {
      'index.html': [`${web}/index.html`],
      'icon.svg': [`${web}/icon.svg`],
      'app.css': [plotStyle, `${web}/style.css`],
    };
    for (const [fileName, paths] of Object.entries(sources)) {
      const parts = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
      this.emitFile({ type: 'asset', fileName, source: parts.join('') });
    }
  },
};

/** The page: beside the program in a package, and in memory in a clone. */
export const page = {
  input: `${web}/app.tsx`,
  platform: 'browser',
  tsconfig: `${web}/tsconfig.json`,
  plugins: [addFiles],
  output: { format: 'esm', minify: true },
  write: false,
};

/** The page, beside the program: a package has no bundler. */
const addPage = {
  name: 'page',
  async generateBundle() {
    const { output } = await build(page);
    for (const { fileName, source, code } of output) {
      this.emitFile({ type: 'asset', fileName: `web/${fileName}`, source: source ?? code });
    }
  },
};

/**
 * Our own files in a few, because a start reads each. Packages stay outside, except two: npm installs them as
 * `dependencies`, where people audit and patch them.
 */
export default {
  input: './src/main.ts',
  platform: 'node',
  external: (id) => /^[^./\0]/u.test(id) && !inlined.test(id) && !helper.test(id),
  plugins: [addPage],
  output: { dir: 'dist', format: 'esm' },
};
