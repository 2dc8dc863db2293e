import { z } from 'zod';
import { countArchived, replayArchive, replayed, type Replayed } from '../replay/replay.ts';
import { sumUp } from '../sync/serve.ts';
import { counted, whole } from '../terminal/numbers.ts';
import { addFeedOptions, type ChosenFeeds } from './options.ts';
import { openData } from './database.ts';
import { logOf } from './screen.ts';
import type { Context, Registry } from './context.ts';

export const replayDocument = z.strictObject({
  schema: z.literal('explorer-etl/replay/1'),
  ...replayed.shape,
});

/** Between two progress lines, in ms: a long replay should not fill a log. */
const progressMs = 5_000;

/** `replay`: decodes archived pages again with this version. Makes no request. */
export function register({ command, run, explain }: Registry): void {
  addFeedOptions(command).action(run(replay));
  explain(
    ['explorer-etl replay', 'explorer-etl replay --chain 10'],
    `Decodes the pages that explorer.archive keeps, oldest first, and upserts their rows. A row that a newer
page wrote stays. Workers may run meanwhile. Ranked lists are left out: each ranking reads them whole.
Interrupted or killed, the same command starts again, and ends with the same rows.`,
  );
}

async function replay(context: Context, options: ChosenFeeds) {
  await using data = await openData(context, 'writes', options);
  const total = await countArchived(data.db, data);
  let reportedAt = performance.now();
  const onProgress = ({ pages }: Replayed) => {
    if (performance.now() - reportedAt < progressMs) return;
    reportedAt = performance.now();
    context.note(`${whole(pages)} of ${whole(total)} pages`);
  };
  const result = await replayArchive(data.db, data, onProgress, context.signal);
  await sumUp({ ...data, log: logOf(context), now: () => performance.now() }, context.signal);
  return context.print(replayDocument, result, summary(result));
}

function summary({ pages, inserted, updated, released, quarantined }: Replayed): string {
  if (pages === 0) return 'No archived pages: explorer.archive is off, or they were deleted.\n';
  const lines = [
    `Decoded ${counted(pages, 'archived page')}, without a request.`,
    `Rows: ${whole(inserted)} added, ${whole(updated)} changed.`,
    `Quarantine: ${counted(released, 'item')} became rows; ${whole(quarantined)} items of these pages stay.`,
  ];
  return `${lines.join('\n')}\n`;
}
