import type { PlanDocument } from '../documents/plan.ts';
import { whole } from '../terminal/numbers.ts';
import { wrap } from '../terminal/width.ts';

type Feed = PlanDocument['feeds'][number];
type Target = NonNullable<Feed['target']>;

/** Which part of lists is wanted because a command named it: `start` reads no more of them either. */
export function targetLines(feeds: readonly Feed[], width: number): string[] {
  const wanted = feeds.flatMap(({ feed, target }) => {
    const bounds = target === null ? null : boundsText(target);
    return bounds === null ? [] : [{ feed, bounds }];
  });
  if (wanted.length === 0) return [];
  const named = wanted.map(({ feed, bounds }) => `${feed} ${bounds}`).join(', ');
  return wrap(
    `Target, named by a command: ${named}. For all there is: backfill --since all, --from-batch 1.`,
    width,
    2,
  );
}

/** Null: all there is. */
function boundsText({ since, from_batch: from, to_batch: to }: Target): string | null {
  if (since !== null) return `since ${since.replace(/T00:00:00\.000Z$/u, '')}`;
  if (from === null || (from <= 1 && to === null)) return null;
  return to === null ? `from batch ${whole(from)}` : `batches ${whole(from)} to ${whole(to)}`;
}
