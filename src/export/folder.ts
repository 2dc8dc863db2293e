import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { ExportError } from './failure.ts';
import { Manifest, manifestName, type ManifestHead } from './manifest.ts';
import { ownPath } from './partition.ts';

/** Held by the process that exports into the folder. */
export const lockName = '.lock';

/**
 * Readies a folder: makes it, or goes on with the export that is in it. What a run left unfinished when it was
 * killed, and files that it made and had no time to tell of, are removed.
 *
 * @throws ExportError where the folder holds other things, or an export in another format
 */
export async function openFolder(
  folder: string,
  head: ManifestHead,
  now: () => number,
): Promise<Manifest> {
  const found = await Manifest.read(folder, now);
  if (found === null) {
    // Hidden are the lock, and a manifest whose writer was killed.
    const others = (await readdir(folder)).filter((name) => !name.startsWith('.'));
    if (others.length > 0) {
      throw new ExportError(
        `${folder} is not empty and has no ${manifestName}: name a new folder, or one of an earlier export.`,
      );
    }
    const manifest = new Manifest(folder, head, now);
    await manifest.save();
    return manifest;
  }
  if (found.head.format !== head.format) {
    throw new ExportError(
      `${folder} holds an export as ${found.head.format}: add --format ${found.head.format}, or name another folder.`,
    );
  }
  found.continueAs(head);
  await sweep(folder, found);
  return found;
}

export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new ExportError(`the folder can't be made: ${(error as Error).message}`);
  }
}

/** Only what has a name that an export gives. */
async function sweep(folder: string, manifest: Manifest): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(folder, file).split(sep).join('/');
    if (entry.isFile() && ownPath.test(path) && !manifest.has(path)) await remove(folder, path);
  }
}

/** Removes a file of the export, and the folders that are empty then. */
export async function remove(folder: string, path: string): Promise<void> {
  await rm(join(folder, path), { force: true });
  for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) {
    try {
      await rmdir(join(folder, parent));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (code === 'ENOENT') continue;
      if (code === 'ENOTEMPTY' || code === 'EEXIST') return;
      throw error;
    }
  }
}
