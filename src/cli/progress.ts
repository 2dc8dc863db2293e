import { printable } from '../printable.ts';
import type { StatusDocument } from '../status/schema.ts';
import { fit } from '../terminal/layout.ts';
import type { Look } from '../terminal/look.ts';
import { counted } from '../terminal/numbers.ts';
import type { GlobalOptions } from './context.ts';
import { type Screen, watchStatus } from './screen.ts';
import { feedTable, leftText, shareText } from './status.ts';

/**
 * Shows the progress of feeds: the table of `status`, redrawn on a terminal; elsewhere a line of a feed when its
 * state changes, and each half minute. @returns a function that ends it
 */
export async function showProgress(
  { quiet }: Pick<GlobalOptions, 'quiet'>,
  screen: Screen,
  names: ReadonlySet<string>,
  read: () => Promise<StatusDocument>,
): Promise<() => Promise<void>> {
  if (quiet || names.size === 0) return async () => undefined;
  const readThese = async () => {
    const document = await read();
    return { ...document, feeds: document.feeds.filter(({ feed }) => names.has(feed)) };
  };
  const plain = plainProgress(await readThese(), (text) => screen.write(text));
  const end = watchStatus(readThese, (now) => {
    if (screen.look.isTerminal) screen.lines(progressLines(now, screen.look));
    else plain(now, performance.now());
  });
  return async () => {
    await end();
    // The result has a line for each feed.
    screen.clear();
  };
}

/** The table of feeds, and below it what a feed waits for. Pure. */
export const progressLines = (document: StatusDocument, look: Look): string[] => [
  ...feedTable(document, look),
  ...document.feeds
    .filter(({ state }) => state === 'failing' || state === 'blocked')
    .map(({ feed, sentence }) => fit(`  ${feed}: ${printable(sentence ?? '')}`, look.columns)),
];

/** Half a minute between lines of a feed, in ms: a long run should not fill a log. */
const plainMs = 30_000;

/** Progress without redrawing. @returns a function that takes the status, and the time in ms */
export function plainProgress(before: StatusDocument, write: (text: string) => void) {
  const written = new Map(before.feeds.map(({ feed, state }) => [feed, { state, at: 0 }]));
  return ({ feeds }: StatusDocument, at: number): void => {
    for (const status of feeds) {
      const { feed, state, rows } = status;
      const last = written.get(feed);
      const isDue = state === 'running' && at - (last?.at ?? 0) >= plainMs;
      if (last?.state === state && !isDue) continue;
      written.set(feed, { state, at });
      const left = leftText(status);
      const parts = [state, shareText(status), counted(rows, 'row'), left && `${left} left`];
      write(`${feed}: ${parts.filter((part) => part !== '').join(', ')}\n`);
    }
  };
}
