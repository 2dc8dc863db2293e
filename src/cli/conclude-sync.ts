import type { Settings } from '../config/settings.ts';
import type { SyncDocument } from '../documents/sync.ts';
import type { OpenDatabase } from '../open-database.ts';
import type { SyncResult } from '../jobs/sync.ts';
import { estimateFeeds } from '../report/estimate.ts';
import { writeDocument, type Context, type ExitCode, type GlobalOptions } from './context.ts';
import { print } from './print.ts';
import { documentOfSync } from './sync-document.ts';
import { syncText } from './sync-text.ts';

/** A work that is over. */
export interface Concluded {
  readonly command: SyncDocument['command'];
  readonly settings: Settings;
  readonly results: readonly SyncResult[];
  /** Whether `--operation` named the lists. */
  readonly isNamed: boolean;
  /** When it began, on the clock of `performance.now`. */
  readonly begunAt: number;
}

/** Tells how each lane ended and what is left, and turns it into the exit code. */
export async function concludeSync(
  context: Context,
  options: GlobalOptions,
  { db }: OpenDatabase,
  { command, settings, results, isNamed, begunAt }: Concluded,
): Promise<ExitCode> {
  const seconds = (performance.now() - begunAt) / 1_000;
  const how = { pageSize: settings.explorer.pageSize, at: new Date() };
  const document = documentOfSync({
    command,
    results,
    isInterrupted: context.signal.aborted,
    isNamed,
    seconds,
    left: await estimateFeeds(db, settings.chains, how),
  });
  if (options.json) writeDocument(context, document);
  else print(context, `${syncText(context.out, document, sameCommand(context.args)).join('\n')}\n`);
  return document.exit.code as ExitCode;
}

/** Options whose value may hold a password. */
const secretOptions: ReadonlySet<string> = new Set(['--database-url']);

/** The command that was given, to be given again; passwords are left to who knows them. */
export function sameCommand(args: readonly string[]): string {
  const shown = args.map((arg, at) => {
    const [name = ''] = arg.split('=', 1);
    if (secretOptions.has(args[at - 1] ?? '')) return '…';
    if (secretOptions.has(name) && arg !== name) return `${name}=…`;
    return /^[\w./:@,=+-]+$/u.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`;
  });
  return ['explorer-etl', ...shown].join(' ');
}
