import { printable } from '../printable.ts';
import { certify, type CoveredRange, type FeedCertificate } from '../feeds/certificate.ts';
import { exitCodes, settingsOf, writeJson, type Registry } from './context.ts';
import { demandPrepared, onDatabase } from './on-database.ts';

/** `verify`: the certificate of what is complete; exit 0 only if nothing is open. */
export function registerVerify({ program, run }: Registry): void {
  program
    .command('verify')
    .description('say of every feed what is proved complete, and what is open')
    .addHelpText(
      'after',
      '\nMakes no request. Exit code 0 only if nothing is open.\n\nExamples:\n  explorer-etl verify\n  explorer-etl verify --json\n',
    )
    .action(
      run<object>(async (context, options) => {
        return onDatabase(settingsOf(context, options, 'database'), context, async (database) => {
          await demandPrepared(database, 'to verify');
          const certificates = await certify(database.db);
          if (options.json) writeJson(context, certificates);
          else context.stdout(certificates.map(describe).join(''));
          const isComplete = certificates.every(({ open }) => open.length === 0);
          return isComplete ? exitCodes.done : exitCodes.failed;
        });
      }),
    );
}

function describe({ feed, operation, covered, head, open, notes }: FeedCertificate): string {
  const lines = [
    `${feed}: ${open.length === 0 ? 'complete' : 'open'}`,
    ...covered.map((range) => `  covered: ${spellRange(operation, range)}, ${spellTime(range)}`),
    ...head.map((waiting) => `  head: ${printable(waiting)}`),
    ...open.map((finding) => `  open: ${printable(finding)}`),
    ...notes.map((note) => `  note: ${printable(note)}`),
  ];
  return `${lines.join('\n')}\n`;
}

function spellRange(operation: string, { from, to }: CoveredRange): string {
  if (operation === 'factories') return `census of ${to} factories`;
  return `${operation === 'optimism-batch-blocks' ? 'batches' : 'blocks'} ${from} to ${to}`;
}

/** One moment where all was read by one walk, else those of the oldest and the newest look. */
function spellTime({ as_of, newest_look }: CoveredRange): string {
  return newest_look === as_of ? `as of ${as_of}` : `as of ${as_of} to ${newest_look}`;
}
