import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, extname, join } from 'node:path';

/** A file or folder of the package, from wherever in it the program runs: its sources, or one bundled file. */
export function packageFile(name: string): string {
  const manifest = findPackageJSON('.', import.meta.url);
  if (manifest === undefined) throw new Error('the program stands in no package');
  return join(dirname(manifest), name);
}

/** The program's own entry, for a process that starts it once more: its source, or what that is bundled to. */
export const programFile = (): string =>
  packageFile(extname(import.meta.filename) === '.ts' ? 'src/main.ts' : 'dist/main.js');

/** The version of the package. */
export const packageVersion = (): string =>
  (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version;
