import { spans, type Span } from '../page/charts/span.ts';
import { freshness } from '../page/freshness.ts';
import { shownFeeds, type FreshnessPast } from '../page/freshness/facts.ts';
import { unknownPanel } from '../page/layout.ts';
import { freshnessHistory } from '../report/freshness-history.ts';
import { isSeen } from '../report/status-document.ts';
import { windowUpTo } from '../time-window.ts';
import { readHistory } from './histories.ts';
import type { Panel, PanelRequest } from './panel.ts';

/** How current each list is, and was. */
export const freshnessPanel: Panel = {
  id: 'freshness',
  title: 'Freshness',
  render: async ({ db, status, query }) => {
    if (!isSeen(status)) return unknownPanel();
    const shown = shownFeeds(status, query);
    const names = shown.feeds.map(({ feed }) => feed);
    const day = await pastOf({ db, status }, spans.day, names);
    const month = await pastOf({ db, status }, spans.month, names);
    return freshness({ status, query, ...shown, day, month });
  },
};

async function pastOf(
  { db, status }: Pick<PanelRequest, 'db' | 'status'>,
  span: Span,
  feeds: readonly string[],
): Promise<FreshnessPast> {
  const at = Date.parse(status.as_of);
  return readHistory({ db, at, name: `freshness ${span.name} ${feeds.join(' ')}` }, async () => {
    const window = windowUpTo(at, span);
    const noted = await freshnessHistory(db, feeds, window);
    return { span, window, feeds: new Map(noted.map(({ feed, bins }) => [feed, bins])) };
  });
}
