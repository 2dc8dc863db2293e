import { existsSync, globSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import * as files from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { z } from 'zod';
import { isForeign } from '../owner.ts';
import { ExportError } from './parquet.ts';

/** In each exported folder: no other folder is replaced. It holds the folder's contents. */
const mark = '.explorer-etl-export';
const ours = new Set([mark, 'data.parquet', 'data.csv']);

const known = z.string().default('');
/** What a file holds: rows as of a bound of `explorer.changes_until()`, in µs, their columns and latest change. */
const holding = z.object({ rows: z.int(), until: z.number(), columns: known, latest: known });
export type Holding = z.infer<typeof holding>;

/** By relation, then by the part of it that a file holds, such as `chain_id=10/day=2026-01-01`. */
const contentsSchema = z.record(z.string(), z.record(z.string(), holding));
export type Contents = z.infer<typeof contentsSchema>;

/** What was written to the hidden folder for a relation, and which of its parts that replaces. */
export interface Written {
  readonly name: string;
  readonly ending: string;
  readonly parts: ReadonlyMap<string, Holding>;
  readonly covers: (part: string) => boolean;
}

/** Of a file that an export was killed before it deleted or noted: nothing equals it. */
const unknown: Holding = { rows: -1, until: 0, columns: '', latest: '' };

/** The contents of an exported folder, as far as files are there: what is missing is exported again. */
export function contentsOf(folder: string): Contents {
  const path = join(folder, mark);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '{}';
  const { data = {} } = contentsSchema.safeParse(JSON.parse(text || '{}'));
  for (const [name, parts] of Object.entries(data)) {
    data[name] = Object.fromEntries(
      partsIn(folder, name).map(({ part }) => [part, parts[part] ?? unknown]),
    );
  }
  return data;
}

/** The files of a relation. */
const partsIn = (folder: string, name: string) =>
  globSync('**/data.*', { cwd: join(folder, name) }).map((path) => ({
    part: dirname(path).replaceAll('\\', '/'),
    path: join(folder, name, path),
    ending: extname(path).slice(1),
  }));

/** Lets `write` fill a hidden folder, then replaces what it covers, each file at once. @throws ExportError */
export async function fillFolder(
  folder: string,
  overwrite: boolean,
  write: (temporary: string) => Promise<readonly Written[]>,
): Promise<void> {
  demandOurs(folder, overwrite);
  await files.mkdir(folder, { recursive: true });
  // Within the folder, which may be a volume of its own: a file is renamed within one.
  const prefix = join(folder, `${mark}.${hostname()}.`);
  const temporary = await files.mkdtemp(`${prefix}${process.pid}.`);
  try {
    // Only now: of two exports that begin at once, one at least sees the other.
    for (const other of readdirSync(folder).map((name) => join(folder, name))) {
      if (other.startsWith(prefix) && other !== temporary) await removeKilled(other);
    }
    const written = await write(temporary);
    demandOurs(folder, overwrite);
    for (const one of written) demandOneFormat(folder, one);
    await replaceCovered(folder, temporary, written);
  } finally {
    await files.rm(temporary, { recursive: true, force: true });
    // An export that failed leaves no folder of its own.
    await files.rmdir(folder).catch(() => undefined);
  }
}

/** Removes the hidden folder of a killed export. @throws ExportError if its process works */
async function removeKilled(hidden: string): Promise<void> {
  const pid = Number(hidden.split('.').at(-2));
  if (isAtWork(pid)) {
    throw new ExportError(
      `process ${pid} exports to ${dirname(hidden)} now: wait until it ends, or name another folder. If it is no export, delete ${hidden}.`,
    );
  }
  await files.rm(hidden, { recursive: true, force: true });
}

/** After a restart, another process may have the number of a killed one: this one. */
function isAtWork(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0);
  } catch (error) {
    return Reflect.get(Object(error), 'code') !== 'ESRCH';
  }
}

async function replaceCovered(folder: string, temporary: string, written: readonly Written[]) {
  const contents = contentsOf(folder);
  const store = async () => {
    await files.writeFile(join(temporary, mark), JSON.stringify(contents));
    await files.rename(join(temporary, mark), join(folder, mark));
  };
  for (const { name, covers } of written) {
    const others = Object.entries(contents[name] ?? {}).filter(([part]) => !covers(part));
    contents[name] = Object.fromEntries(others);
  }
  // After a kill, what was to be replaced is exported again.
  await store();
  for (const { name, ending, parts, covers } of written) {
    for (const part of parts.keys()) {
      const path = join(name, part, `data.${ending}`);
      await files.mkdir(join(folder, name, part), { recursive: true });
      await files.rename(join(temporary, path), join(folder, path));
    }
    for (const old of partsIn(folder, name)) {
      if (!covers(old.part) || (parts.has(old.part) && old.ending === ending)) continue;
      await files.rm(old.path);
      // The folder remains if it holds another file.
      await files.rmdir(dirname(old.path)).catch(() => undefined);
    }
    contents[name] = { ...contents[name], ...Object.fromEntries(parts) };
  }
  await store();
}

/** @throws ExportError if what remains of the relation has another format */
function demandOneFormat(folder: string, { name, ending, covers }: Written): void {
  const other = partsIn(folder, name).find((old) => old.ending !== ending && !covers(old.part));
  if (other === undefined) return;
  throw new ExportError(`${other.path} would remain beside other formats: name a new folder.`);
}

/** @throws ExportError if the folder may not be filled, or holds what no export made */
function demandOurs(folder: string, overwrite: boolean): void {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory()) throw new ExportError(`${folder} is not a folder: name a new one.`);
  // Who owns it could put links there while we delete.
  if (isForeign(found)) throw new ExportError(`${folder} is another user's: name a new one.`);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  // A hidden folder is that of an export that works or was killed.
  const all = entries.filter(
    (entry) => !entry.isDirectory() && !entry.parentPath.startsWith(join(folder, `${mark}.`)),
  );
  if (all.length === 0) return;
  const isMarked = all.some(({ name }) => name === mark);
  const isOurs = isMarked && all.every((entry) => entry.isFile() && ours.has(entry.name));
  if (overwrite && isOurs) return;
  const why = isOurs
    ? 'is not empty: name a new folder, or add --overwrite to replace what is exported again'
    : 'holds files that no export made: name another folder';
  throw new ExportError(`${folder} ${why}.`);
}
