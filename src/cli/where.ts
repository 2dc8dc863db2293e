import type { OpenDatabase } from '../open-database.ts';
import type { Context, GlobalOptions } from './context.ts';

/** Says where an embedded database keeps its data. */
export function tellWhere(
  context: Context,
  { quiet }: Pick<GlobalOptions, 'quiet'>,
  { embedded }: OpenDatabase,
): void {
  if (embedded === null || quiet) return;
  const why = embedded.relocated
    ? ' (the server does not run as root and cannot enter this folder)'
    : '';
  const state = embedded.attached ? 'runs' : 'started (explorer-etl db stop stops it)';
  context.stderr(`Embedded Postgres ${state}; its data is in ${embedded.dataDirectory}${why}\n`);
}
