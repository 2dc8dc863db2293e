export { packageVersion as version } from '../package-file.ts';

/** Whether nothing is asked but the version: that is told without loading the program. */
export const asksVersion = ([first, ...others]: readonly string[]): boolean =>
  others.length === 0 && (first === '--version' || first === '-V');
