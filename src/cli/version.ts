import { readFileSync } from 'node:fs';
import { packageFile } from '../package-file.ts';

/** The version of the package. */
export const version = (): string =>
  (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version;

/** Whether nothing is asked but the version: that is told without loading the program. */
export const asksVersion = ([first, ...others]: readonly string[]): boolean =>
  others.length === 0 && (first === '--version' || first === '-V');
