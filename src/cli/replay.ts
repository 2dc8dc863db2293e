import { performance } from 'node:perf_hooks';
import { countArchived, replayArchive, type Replayed } from '../replay/replay.ts';
import { addFeedOptions, chainOf, type ChosenFeeds } from './chosen-feeds.ts';
import {
  exitCodes,
  writeDocument,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { exits } from './exits.ts';
import { demandPrepared, onDatabase } from './on-database.ts';
import { settingsOf } from './setup.ts';
import { tellWhere } from './where.ts';

/** How seldom progress is reported, in ms: a long replay should not fill a log. */
const progressMs = 5_000;

/** `replay`: rows of archived pages by the declarations of this version. No request. */
export function registerReplay({ command, run }: Registry): void {
  addFeedOptions(command)
    .addHelpText(
      'after',
      `
Decodes the pages that explorer.archive keeps, oldest first, and upserts their rows. A row that a newer
page wrote stays. Workers may go on meanwhile. Ranked lists are left out: each ranking reads them whole.
Interrupted or killed, the same command begins again, and ends with the same rows.

Examples:
  explorer-etl replay
  explorer-etl replay --chain 10 --operation user-operations
`,
    )
    .action(run<ChosenFeeds>(replay));
}

async function replay(context: Context, options: ChosenFeeds & GlobalOptions): Promise<ExitCode> {
  // What was archived once can be replayed, whatever the configuration names now.
  const settings = settingsOf(context, { ...options, chain: [], operation: [] }, 'database');
  const { chain = [], operation: operations = [], json, quiet } = options;
  const filter = { chains: chain.map((flag) => chainOf(flag, settings)), operations };
  return onDatabase(settings, context, 'writes', async (database) => {
    tellWhere(context, options, database);
    await demandPrepared(database, 'to replay');
    const total = await countArchived(database.db, filter);
    let reportedAt = performance.now();
    const onProgress = ({ pages }: Replayed) => {
      if (quiet || performance.now() - reportedAt < progressMs) return;
      reportedAt = performance.now();
      context.stderr(`${number.format(pages)} of ${number.format(total)} pages\n`);
    };
    const replayed = await replayArchive(database.db, filter, onProgress, context.signal);
    if (json) {
      writeDocument(context, { schema: 'explorer-etl/replay/1', exit: exits.done, ...replayed });
    } else context.stdout(summary(replayed));
    return exitCodes.done;
  });
}

const number = new Intl.NumberFormat('en-US');

function summary({ pages, inserted, updated, released, quarantined }: Replayed): string {
  if (pages === 0) return 'No archived pages: explorer.archive is off, or they were deleted.\n';
  const lines = [
    `Decoded ${number.format(pages)} archived pages, without a request.`,
    `Rows: ${number.format(inserted)} added, ${number.format(updated)} changed.`,
    `Quarantine: ${number.format(released)} items became rows; ${number.format(quarantined)} of these pages still are none.`,
  ];
  return `${lines.join('\n')}\n`;
}
