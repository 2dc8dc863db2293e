import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, extname, join } from 'node:path';

/** A file or folder of the package, for its sources and for its bundle alike. */
export function packageFile(name: string): string {
  const manifest = findPackageJSON('.', import.meta.url);
  if (manifest === undefined) throw new Error('the program is in no package');
  return join(dirname(manifest), name);
}

/** The program's entry, for a child process: the source or the bundle. */
export const programFile = (): string =>
  packageFile(extname(import.meta.filename) === '.ts' ? 'src/main.ts' : 'dist/main.js');

const readManifest = (): { version: string; dependencies: Record<string, string> } =>
  JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));

export const packageVersion = (): string => readManifest().version;

/** The version of a package that this one pins. */
export const dependencyVersion = (name: string): string | undefined =>
  readManifest().dependencies[name];
