import { shareText, type FeedStand } from '../terminal/feed-lines.ts';
import { counted } from '../terminal/numbers.ts';
import type { TrackedLine } from './feed-track.ts';

/** How seldom a feed that reads says so, in ms: a long run should not fill a log. */
const plainMs = 30_000;

/** What a feed that ended is called. */
const ends: Readonly<Record<Exclude<FeedStand, 'reading'>, string>> = {
  done: 'done',
  paused: 'paused',
  failed: 'failed',
  unserved: 'not served',
};

/**
 * Progress where nothing can be redrawn: a line where a feed begins, one where it ends, and one each half minute.
 *
 * @returns takes the lines of a look, and the time in ms
 */
export function plainProgress(
  write: (text: string) => void,
): (lines: readonly TrackedLine[], at: number) => void {
  const told = new Map<string, { readonly stand: FeedStand; readonly at: number }>();
  return (lines, at) => {
    for (const line of lines) {
      const before = told.get(line.feed);
      const isChanged = before === undefined || before.stand !== line.stand;
      if (!isChanged && (line.stand !== 'reading' || at - before.at < plainMs)) continue;
      told.set(line.feed, { stand: line.stand, at });
      if (before === undefined && line.stand === 'reading') write(`${line.feed}: begun\n`);
      else write(`${line.feed}: ${said(line)}\n`);
    }
  };
}

function said(line: TrackedLine): string {
  const { share, rows, pages, credits, stand, note } = line;
  const counts = [counted(rows, 'row'), counted(pages, 'page'), counted(credits, 'credit')];
  if (stand === 'reading') {
    const part = share === null || share.total === 0 ? [] : [shareText(share)];
    return [...part, ...counts, ...(note === '' ? [] : [note])].join(', ');
  }
  const how = stand === 'failed' ? [`${ends.failed} (${note})`] : [ends[stand]];
  return [...how, ...counts, ...(stand === 'done' ? [note] : [])].join(', ');
}
