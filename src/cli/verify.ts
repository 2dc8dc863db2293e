import { printable } from '../printable.ts';
import { kinds } from '../lists/index.ts';
import { prove, type CoveredRange, type FeedProof } from '../report/proof.ts';
import { checkRows, type RowReport } from '../rows/check.ts';
import { exitCodes, writeJson, type Registry } from './context.ts';
import { settingsOf } from './setup.ts';
import { demandPrepared, onDatabase } from './on-database.ts';

/** `verify`: the proof of what is complete; exit 0 only if nothing is open. */
export function registerVerify({ command, run }: Registry): void {
  command
    .option('--rows', 'also look at every row: whether any was deleted, changed or added by others')
    .addHelpText(
      'after',
      '\nMakes no request. Exit code 0 only if nothing is open.\n\nExamples:\n  explorer-etl verify\n  explorer-etl verify --rows\n  explorer-etl verify --json\n',
    )
    .action(
      run<{ readonly rows?: true }>(async (context, options) => {
        return onDatabase(
          settingsOf(context, options, 'database'),
          context,
          'reads',
          async (database) => {
            await demandPrepared(database, 'to verify');
            const report = options.rows === true ? await checkRows(database.db) : null;
            // What a proof reads may be among the tables that are gone.
            const feeds = report?.isReadable === false ? [] : await prove(database.db);
            if (options.json) writeJson(context, report === null ? feeds : { feeds, rows: report });
            else {
              context.stdout(feeds.map(describe).join(''));
              if (report !== null) context.stdout(describeRows(report));
            }
            const isComplete =
              feeds.every(({ open }) => open.length === 0) && (report?.findings ?? []).length === 0;
            return isComplete ? exitCodes.done : exitCodes.failed;
          },
        );
      }),
    );
}

function describeRows({ tables, rows, findings, unlisted }: RowReport): string {
  const verdict =
    findings.length === 0 ? 'all as they were written' : `${findings.length + unlisted} findings`;
  const lines = [
    `rows: ${verdict}, of ${rows} rows in ${tables} tables`,
    ...findings.map(({ table, key, finding }) => {
      const row = key === null ? '' : ` (${Object.values(key).join(', ')})`;
      return `  damaged: ${printable(`${table}${row}: ${finding}`)}`;
    }),
    ...(unlisted > 0 ? [`  and ${unlisted} more`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function describe({ feed, kind, unit, covered, head, open, notes }: FeedProof): string {
  const lines = [
    `${feed}: ${open.length === 0 ? 'complete' : 'open'}`,
    ...covered.map(
      (range) => `  covered: ${kinds[kind].spell({ ...range, unit })}, ${spellTime(range)}`,
    ),
    ...head.map((waiting) => `  head: ${printable(waiting)}`),
    ...open.map((finding) => `  open: ${printable(finding)}`),
    ...notes.map((note) => `  note: ${printable(note)}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** One moment where all was read by one walk, else those of the oldest and the newest reading. */
function spellTime({ as_of, newest_as_of }: CoveredRange): string {
  return newest_as_of === as_of ? `as of ${as_of}` : `as of ${as_of} to ${newest_as_of}`;
}
