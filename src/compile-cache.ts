import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isForeign } from './owner.ts';

/**
 * A folder below `home`, an existing folder of this user, for compiled code, made if absent. Node runs what it finds
 * there, so neither the folder nor a parent may belong to another user, or be writable by one.
 * @returns null if there is no such folder: the program then compiles at each start
 */
export function compileCacheFolder(home: string): string | null {
  try {
    // As root, what is made in the home of another user, or as such a home, would lock that user out.
    if (!isOurs(realpathSync(home), sticky)) return null;
    const made = join(home, '.cache', 'explorer-etl', 'compiled');
    mkdirSync(made, { recursive: true, mode: 0o700 });
    const folder = realpathSync(made);
    return isOurs(folder, 0) && parentsOf(folder).every((parent) => isOurs(parent, sticky))
      ? folder
      : null;
  } catch {
    return null;
  }
}

/** In a folder with this bit, as /tmp, only an entry's owner renames or removes it. */
const sticky = 0o1000;

function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...parentsOf(parent)];
}

/** Of this user or root, and writable by no other, or with a bit that makes this harmless. */
function isOurs(path: string, harmless: number): boolean {
  const found = statSync(path);
  return !isForeign(found, (found.mode & harmless) === 0 ? 0o022 : 0);
}
