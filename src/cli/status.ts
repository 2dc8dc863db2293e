import Table from 'cli-table3';
import { openDatabase } from '../app.ts';
import { feedStatus, type FeedStatus } from '../feeds/status.ts';
import { exitCodes, settingsOf, writeJson, type Registry } from './context.ts';
import { isPrepared } from './prepared.ts';

/** `status`: what each feed is doing and how far it has come. */
export function registerStatus({ program, run }: Registry): void {
  program
    .command('status')
    .description('what each feed is doing, and how far it has come')
    .addHelpText('after', '\nExamples:\n  explorer-etl status\n  explorer-etl status --json\n')
    .action(
      run<object>(async (context, options) => {
        const database = await openDatabase(settingsOf(context, options, 'database'), context);
        try {
          // Looking changes nothing, so it makes no tables either.
          const feeds = (await isPrepared(database)) ? await feedStatus(database.db) : [];
          if (options.json) writeJson(context, feeds);
          else
            context.stdout(
              feeds.length === 0 ? 'No feeds yet: run sync or start.\n' : table(feeds),
            );
          return exitCodes.done;
        } finally {
          await database.close();
        }
      }),
    );
}

const plain = { head: [], border: [] };

function table(feeds: readonly FeedStatus[]): string {
  const lines = new Table({
    head: [
      'feed',
      'state',
      'rows',
      'last page',
      'checkpoint',
      'open walks',
      'quarantined',
      'batches',
    ],
    style: plain,
  });
  for (const feed of feeds) {
    lines.push([
      feed.feed,
      feed.state,
      feed.rows,
      age(feed.last_page_age_s),
      age(feed.checkpoint_age_s),
      feed.running_walks,
      feed.quarantined,
      feed.batches === null ? '' : `${feed.batches.done}/${feed.batches.total}`,
    ]);
  }
  const reasons = feeds.flatMap(({ feed, reason }) =>
    reason === null ? [] : `${feed}: ${reason}`,
  );
  return `${[lines.toString(), ...reasons].join('\n')}\n`;
}

/** Largest unit first; a day is where hours stop telling anything. */
const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

function age(seconds: number | null): string {
  if (seconds === null) return '';
  const [unit, size] = units.find(([, length]) => seconds >= length) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit} ago`;
}
