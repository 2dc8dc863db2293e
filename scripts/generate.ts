import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * `npm run generate [NAME]`: writes again what is generated from the code. Without a name all but the
 * pictures, which take minutes and Chromium.
 */
const vitest = ['node_modules/vitest/vitest.mjs', 'run'];
const generators = {
  schema: [...vitest, '--project=short', 'test/unit/config/schema.test.ts', '--update'],
  tables: ['scripts/tables-doc.ts'],
  modules: ['scripts/modules-doc.ts'],
  dashboards: ['scripts/dashboards.ts'],
  pictures: [...vitest, '--project=pictures'],
} as const;
type Name = keyof typeof generators;

const isName = (name: string): name is Name => Object.hasOwn(generators, name);
const given = process.argv.slice(2);
const names = given.length === 0 ? (['schema', 'tables', 'modules', 'dashboards'] as const) : given;

for (const name of names) {
  if (!isName(name)) {
    console.error(`Usage: npm run generate [NAME], of ${Object.keys(generators).join(', ')}`);
    process.exit(2);
  }
  const child = spawn(process.execPath, generators[name], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exit(1);
}
