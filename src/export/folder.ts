import { lstat, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { ExportError } from './failure.ts';

/** In each folder that an export made: without it none is replaced. Hidden, so that no reader takes it for data. */
const mark = '.explorer-etl-export';

/** Every path that an export makes, folders too. */
const ownPath =
  /^[\w-]+(?:\/chain_id=[^/]+)?(?:\/day=[^/]+)?(?:\/data\.(?:parquet|csv))?$|^\.explorer-etl-export$/u;

/**
 * Has `write` fill a new folder beside the one that is wanted, and puts it in its place once it is whole. Where
 * `write` fails, the folder is what it was.
 *
 * @param overwrite whether an earlier export may be there, and is replaced
 * @throws ExportError where anything else is there
 */
export async function fillFolder<T>(
  folder: string,
  overwrite: boolean,
  write: (temporary: string) => Promise<T>,
): Promise<T> {
  await demandOwn(folder, overwrite);
  const beside = await makeBeside(folder);
  const [temporary, old] = [join(beside, 'new'), join(beside, 'old')];
  try {
    await mkdir(temporary);
    await writeFile(join(temporary, mark), '');
    const result = await write(temporary);
    // Hours may have gone by.
    await demandOwn(folder, overwrite);
    await rename(folder, old).catch(ignoreAbsence);
    await rename(temporary, folder).catch(async (error: unknown) => {
      await rename(old, folder).catch(ignoreAbsence);
      throw error;
    });
    return result;
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

async function makeBeside(folder: string): Promise<string> {
  try {
    await mkdir(dirname(folder), { recursive: true });
    return await mkdtemp(join(dirname(folder), `.${basename(folder)}.`));
  } catch (error) {
    throw new ExportError(`the folder can't be made: ${(error as Error).message}`);
  }
}

const ignoreAbsence = (error: unknown): null => {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  throw error;
};

/**
 * Symbolic links are not followed.
 *
 * @throws ExportError where the folder holds more than an earlier export
 */
async function demandOwn(folder: string, overwrite: boolean): Promise<void> {
  const found = await lstat(folder).catch(ignoreAbsence);
  if (found === null) return;
  if (!found.isDirectory()) throw new ExportError(`${folder} is no folder: name a new one.`);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  if (entries.length === 0) return;
  if (!overwrite) {
    throw new ExportError(
      `${folder} is not empty: name a new folder, or add --overwrite to replace an earlier export.`,
    );
  }
  const pathOf = (entry: (typeof entries)[number]) =>
    relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/');
  const other = entries.find(
    (entry) => !(entry.isFile() || entry.isDirectory()) || !ownPath.test(pathOf(entry)),
  );
  if (other === undefined && entries.some((entry) => pathOf(entry) === mark)) return;
  const what = other === undefined ? `lacks ${mark}` : `holds ${pathOf(other)}`;
  throw new ExportError(`${folder} ${what}, so it is no export alone: name another folder.`);
}
