import { defineConfig } from 'rolldown';

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

/**
 * Our own files in a few, because a start reads each. Packages stay outside: npm installs them as
 * `dependencies`, where people audit and patch them.
 */
export default defineConfig({
  input: './src/main.ts',
  platform: 'node',
  external: (id) => /^[^./\0]/u.test(id) && !drizzle.test(id) && !helper.test(id),
  plugins: [requireDrizzle],
  output: { dir: 'dist', format: 'esm' },
});
