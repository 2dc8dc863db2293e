import type { StatusDocument } from '../documents/status.ts';
import { creditsPerRequest } from '../explorer/slot.ts';
import { coverage } from '../page/coverage/index.ts';
import type { CoverageView, RibbonView, SegmentView } from '../page/coverage/view.ts';
import { readRibbon, type Ribbon, type RibbonChoice } from '../report/ribbon-view.ts';
import { percent } from '../terminal/numbers.ts';
import { listName } from '../words/list-name.ts';
import type { Panel, PanelRequest } from './panel.ts';

type Feed = StatusDocument['feeds'][number];

const hourMs = 3_600_000;
const spanMs: Readonly<Record<string, number>> = {
  hour: hourMs,
  day: 24 * hourMs,
  week: 7 * 24 * hourMs,
};

/** What of each list is proved, in flight, missing, not wanted or unknown. */
export const coveragePanel: Panel = {
  id: 'coverage',
  title: 'Coverage',
  async render(request) {
    const views: CoverageView[] = [];
    for (const feed of request.status.feeds) views.push(await viewOf(feed, request));
    return coverage({ views, query: request.query, creditsPerPage: creditsPerRequest });
  },
};

async function viewOf(feed: Feed, { db, query, called }: PanelRequest): Promise<CoverageView> {
  const { coverage: known, operation, chain_name: chain, proved } = feed;
  const named = { feed: feed.feed, chain, list: listName(operation), share: shareOf(proved) };
  if (known?.of === 'ranking') {
    return { ...named, kind: 'census', asOf: known.as_of, factories: known.factories };
  }
  const kind = known?.of === 'batches' ? 'numbered' : 'newest-first';
  const choice = choiceOf(feed, query);
  const ribbon =
    known === null ? null : await readRibbon(db, feed, kind, { choice, share: proved.share });
  if (ribbon === null) return { ...named, kind: 'unread' };
  return {
    ...named,
    ...ribbon,
    kind: 'ribbon',
    unit: known?.of === 'blocks' && known.unit === 'blocks' ? 'block' : 'batch',
    isWorked: feed.lanes.some(({ state }) => ['running', 'awaiting', 'resting'].includes(state)),
    segments: ribbon.segments.map((segment) => ({
      ...segment,
      command: commandOf(feed, segment, called),
      pages: pagesOf(feed, segment, ribbon),
    })),
  };
}

/** What the address asks for. Whatever is no number there asks for nothing. */
function choiceOf({ feed }: Feed, query: URLSearchParams): RibbonChoice {
  const [from, to] = [query.get('coverage-from'), query.get('coverage-to')].map(heightOf);
  if (query.get('coverage-feed') === feed && from !== undefined && to !== undefined) {
    return { of: 'numbers', from, to };
  }
  const span = spanMs[query.get('coverage-span') ?? ''];
  return span === undefined ? { of: 'all' } : { of: 'newest', spanMs: span };
}

function heightOf(text: string | null): number | undefined {
  if (text === null || !/^\d{1,15}$/u.test(text)) return undefined;
  return Number(text);
}

const signs = { known: '', reckoned: 'about ', 'at-least': 'at least ', unknown: '' } as const;

/** The part that is proved, with what it rests on. */
function shareOf({ share, basis, is_proved }: Feed['proved']): string {
  if (share === null) return is_proved ? 'proved, its length is not known' : 'nothing proved yet';
  return `${signs[basis]}${percent(share)} proved`;
}

/** What mends a segment. What is read or not wanted wants nothing. */
function commandOf(
  { chain_id, operation }: Feed,
  { state, from, to }: Ribbon['segments'][number],
  called: PanelRequest['called'],
): SegmentView['command'] {
  const flags = `--chain ${chain_id} --operation ${operation}`;
  const isByNumber = operation === 'optimism-batch-blocks';
  switch (state) {
    case 'missing':
      return called(
        `explorer-etl backfill ${flags}${isByNumber ? '' : ` --from-block ${from} --to-block ${to}`}`,
      );
    case 'unknown':
      return called(`explorer-etl backfill ${flags}`);
    case 'doubtful':
      return called(
        isByNumber ? `explorer-etl repair ${flags}` : `explorer-etl quarantine list ${flags}`,
      );
    case 'proved':
    case 'reading':
    case 'waiting':
    case 'unwanted':
      return null;
  }
}

/** About what it costs: by how dense the list was where it was read, or by what status reckons of all that is left. */
function pagesOf(
  { left, proved }: Feed,
  { state, numbers }: Pick<RibbonView['segments'][number], 'state' | 'numbers'>,
  { pagesPerNumber }: Ribbon,
): number | null {
  if (state === 'missing' && pagesPerNumber !== null)
    return Math.ceil(numbers * pagesPerNumber) + 1;
  const { most } = left.requests;
  if (state === 'unknown') return most;
  const unread = proved.numbers?.unread ?? 0;
  return state === 'missing' && most !== null && unread > 0
    ? Math.ceil((most * numbers) / unread)
    : null;
}
