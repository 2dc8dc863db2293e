import type { Stats } from 'node:fs';

/** Whether neither we nor root own a file, or it has one of the write `bits`. Never on Windows, which has neither. */
export function isForeign({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, bits = 0): boolean {
  const own = process.geteuid?.();
  return own !== undefined && (![0, own].includes(uid) || (mode & bits) !== 0);
}
