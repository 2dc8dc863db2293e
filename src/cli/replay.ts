import { directUrlOf } from '../app.ts';
import { findWays } from '../db/route.ts';
import { createScratchDatabase } from '../replay/scratch.ts';
import type { ReplayDocument } from '../documents/replay.ts';
import { printable } from '../printable.ts';
import type { RowDifference } from '../replay/compare.ts';
import { differs, replayArchive, type ReplayReport, type ReplayUse } from '../replay/replay.ts';
import {
  UsageError,
  writeDocument,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { exits } from './exits.ts';
import { settingsOf } from './setup.ts';
import { demandPrepared, onDatabase } from './on-database.ts';
import { table } from './table.ts';
import { tellWhere } from './where.ts';

interface ReplayFlags {
  readonly diff?: boolean;
  readonly apply?: boolean;
}

/** `replay`: the tables as the archive makes them, beside those that are there. No request. */
export function registerReplay({ command, run }: Registry): void {
  command
    .option('--diff', 'list the rows that would change')
    .option('--apply', 'take over what differs, in one transaction')
    .addHelpText(
      'after',
      `
Needs explorer.archive: all from the first page on, and a role that may create a database:
it rebuilds in <database>_replay, which it drops at the end. Exit code 0 if all is equal,
or was applied; 1 if something differs.

Examples:
  explorer-etl replay
  explorer-etl replay --diff
  explorer-etl replay --apply
`,
    )
    .action(run<ReplayFlags>(replay));
}

async function replay(context: Context, options: ReplayFlags & GlobalOptions): Promise<ExitCode> {
  const use = useOf(options);
  const settings = settingsOf(context, options, 'database');
  return onDatabase(settings, context, 'writes', async (database) => {
    tellWhere(context, options, database);
    await demandPrepared(database, 'to replay');
    // Another database of the server, which a pooler need not have.
    const { session } = await findWays(database.url, directUrlOf(settings, database));
    const scratch = await createScratchDatabase(session.url);
    const shown: RowDifference[] = [];
    let different = 0;
    try {
      const report = await replayArchive(
        database.pool,
        scratch,
        {
          use,
          onProgress: (so) => {
            if (!options.quiet) context.stderr(`${so.pages} pages, ${so.rows} rows replayed\n`);
          },
          onDifference: (difference) => {
            different += 1;
            if (shown.length < mostShown) shown.push(difference);
          },
        },
        context.signal,
      );
      const exit = report.tables.some(differs) && use !== 'apply' ? exits.open : exits.done;
      if (options.json)
        writeDocument(context, documentOf(report, exit, shown, use === 'diff' ? different : null));
      else context.stdout(describe(report, use, shown, different));
      return exit.code;
    } finally {
      await scratch.drop();
    }
  });
}

function useOf({ diff, apply }: ReplayFlags): ReplayUse {
  if (diff === true && apply === true) {
    throw new UsageError('--diff shows and --apply takes over: give one of them.');
  }
  if (apply === true) return 'apply';
  return diff === true ? 'diff' : 'digests';
}

function documentOf(
  { pages, rows, missing, tables, applied }: ReplayReport,
  exit: typeof exits.done | typeof exits.open,
  shown: readonly RowDifference[],
  different: number | null,
): ReplayDocument {
  return {
    schema: 'explorer-etl/replay/1',
    exit,
    pages,
    rows,
    missing_pages: missing,
    applied_rows: applied,
    tables: tables.map((both) => ({
      table: both.table,
      present: { rows: both.present.rows, digest: both.present.digest },
      replayed: { rows: both.replayed.rows, digest: both.replayed.digest },
      differs: differs(both),
    })),
    differing_rows: different,
    differences: [...shown],
  };
}

/** Differing rows that are printed; the others are counted. */
const mostShown = 1_000;

function describe(
  { pages, rows, missing, tables, applied }: ReplayReport,
  use: ReplayUse,
  shown: readonly RowDifference[],
  different: number,
): string {
  const head = ['table', 'rows', 'digest', 'replayed rows', 'digest', ''];
  const compared = tables.map((both) => {
    const { table: name, present, replayed } = both;
    const equal = differs(both) ? 'differs' : 'equal';
    return [name, present.rows, present.digest, replayed.rows, replayed.digest, equal];
  });
  const lines = [
    `Replayed ${pages} pages, ${rows} rows, without a request.`,
    table(head, compared),
    ...(missing > 0
      ? [`${missing} pages are not in the archive: what they told is missing here.`]
      : []),
    ...shown.map(line),
    ...(different > shown.length ? [`… and ${different - shown.length} more rows.`] : []),
    ...(use === 'apply' ? [`Took over ${applied} rows.`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** Of a row that is on both sides only what differs. */
function line({ table: changed, key, present, replayed }: RowDifference): string {
  const name = `${changed} ${JSON.stringify(key)}`;
  if (present === null) return printable(`${name}: would be added`);
  if (replayed === null) return printable(`${name}: would go`);
  const changes = Object.keys({ ...present, ...replayed })
    .filter((column) => present[column] !== replayed[column])
    .map((column) => `${column} ${present[column] ?? 'null'} -> ${replayed[column] ?? 'null'}`);
  return printable(`${name}: ${changes.join(', ')}`);
}
