import { defineConfig } from 'rolldown';
import { webAssets } from './src/web/bundle.ts';

const drizzle = /^drizzle-orm(?:\/|$)/u;
/** What the compiler itself adds. */
const helper = /^@oxc-project\/runtime\//u;

/**
 * drizzle-orm as CommonJS. Its package.json has 134 kB, and Node 24 parses it again for each of its 108
 * ES modules: half a second of every start.
 */
const requireDrizzle = {
  name: 'require-drizzle',
  resolveId: (id, importer) => {
    if (!drizzle.test(id)) return null;
    return importer?.startsWith('\0') ? { id, external: true } : { id: `\0${id}` };
  },
  load: (id) =>
    id.startsWith('\0drizzle-orm') ? `module.exports = require('${id.slice(1)}');` : null,
};

/** The page, beside the program: a package has no bundler. */
const addPage = {
  name: 'page',
  async generateBundle() {
    for (const [path, { body }] of await webAssets()) {
      const fileName = path === '/' ? 'web/index.html' : `web${path}`;
      this.emitFile({ type: 'asset', fileName, source: body });
    }
  },
};

/**
 * Our own files in a few, because a start reads each. Packages stay outside: npm installs them as
 * `dependencies`, where people audit and patch them.
 */
export default defineConfig({
  input: './src/main.ts',
  platform: 'node',
  external: (id) => /^[^./\0]/u.test(id) && !drizzle.test(id) && !helper.test(id),
  plugins: [requireDrizzle, addPage],
  output: { dir: 'dist', format: 'esm' },
});
