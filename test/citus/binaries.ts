import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Where Debian has the one that Citus is built for, whatever the PATH says. */
const debian = '/usr/lib/postgresql/15/bin';

/** The folder of a Postgres that has Citus: that of `PG_BIN`, else one that is found; null where there is none. */
export function citusBinaries(): string | null {
  const named = process.env['PG_BIN'];
  const folders = named === undefined ? [folderOnPath(), debian] : [named];
  return folders.find((folder) => folder !== null && hasCitus(folder)) ?? null;
}

/** The folder of the Postgres that the PATH finds; null: none. */
export function folderOnPath(): string | null {
  return ask('pg_config', '--bindir');
}

function hasCitus(folder: string): boolean {
  const shared = ask(join(folder, 'pg_config'), '--sharedir');
  return shared !== null && existsSync(join(shared, 'extension', 'citus.control'));
}

function ask(program: string, option: string): string | null {
  try {
    return execFileSync(program, [option], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}
