import { isCancelled } from '../db/failure.ts';
import type { Database } from '../db/transaction.ts';
import type { StatusDocument } from '../documents/status.ts';
import type {
  CoverageFacts,
  FeedFacts,
  Heights,
  Mending,
  RibbonFacts,
  Span,
} from '../page/coverage/facts.ts';
import { coverage } from '../page/coverage/panel.ts';
import { unknownPanel } from '../page/layout.ts';
import { type Range, type Ribbon, ribbonsOf } from '../report/ribbon/ribbon.ts';
import { newestOf, type TimedHeight, timesWithin } from '../report/ribbon/times.ts';
import { type Witnesses, witnessesOf } from '../report/ribbon/witnesses.ts';
import { isSeen } from '../report/status-document.ts';
import { repairCommand } from '../status/findings.ts';
import { creditsPerPage } from '../sync/ledger.ts';
import { counted } from '../terminal/numbers.ts';
import { listName } from '../words/list-name.ts';
import { shareText } from '../words/share-text.ts';
import type { Panel, PanelRequest } from './panel.ts';

type Feed = StatusDocument['feeds'][number];

/** Parts that a bar is told in: on a wide screen each is some pixels. */
const resolution = 240;
/** A bar of more segments is told without the walks of each: it is to be zoomed into first. */
const mostWitnessed = 24;

const spans: Readonly<Record<Span, number>> = { hour: 3_600, day: 86_400, week: 604_800 };

/** What of each list is proved complete. */
export const coveragePanel: Panel = {
  id: 'coverage',
  title: 'Coverage',
  render: async (request) =>
    isSeen(request.status) ? coverage(await readCoverage(request)) : unknownPanel(),
};

async function readCoverage({ db, status, query, called }: PanelRequest): Promise<CoverageFacts> {
  const span = spanOf(query);
  const chosen = chosenOf(query, status);
  // A bar without a status beside it would say nothing of whose it is.
  const ribbons = status.feeds.length === 0 ? [] : await readRibbons(db, status, span, chosen);
  const times = await timesWithin(db, new Map(ribbons.map((own) => [own.feed, own.window])));
  const witnesses = await readWitnesses(db, ribbons, chosen?.feed ?? null);
  const byFeed = new Map(ribbons.map((ribbon) => [ribbon.feed, ribbon]));
  return {
    query,
    asOf: status.as_of,
    span: chosen === null ? span : null,
    chosen: chosen?.feed ?? null,
    feeds: status.feeds.map((feed) => {
      const ribbon = byFeed.get(feed.feed);
      const told =
        ribbon === undefined
          ? null
          : ribbonFacts(ribbon, feed, {
              points: times.get(feed.feed) ?? [],
              witnesses: witnesses.get(feed.feed) ?? [],
              called,
            });
      return feedFacts(feed, told);
    }),
  };
}

async function readRibbons(
  db: Database,
  status: StatusDocument,
  span: Span | null,
  chosen: Chosen | null,
): Promise<Ribbon[]> {
  const shares = new Map(
    status.feeds.flatMap(({ feed, proved: { share } }) => (share ? [[feed, share] as const] : [])),
  );
  const windows = new Map<string, Range>();
  if (chosen?.window) windows.set(chosen.feed, chosen.window);
  const ribbons = await ribbonsOf(db, { resolution, windows, shares });
  if (span === null || chosen?.window) return ribbons;
  const wholes = new Map(ribbons.map(({ feed, whole }) => [feed, whole]));
  const newest = await newestOf(db, wholes, spans[span]);
  return ribbonsOf(db, { resolution, windows: newest, shares });
}

/** The walks of each segment, where they are few enough to be told. */
async function readWitnesses(
  db: Database,
  ribbons: readonly Ribbon[],
  chosen: string | null,
): Promise<ReadonlyMap<string, readonly (Witnesses | null)[]>> {
  const told = ribbons.filter(
    ({ feed, segments }) => feed === chosen || segments.length <= mostWitnessed,
  );
  const places = told.flatMap(({ feed, segments }) =>
    segments.map(({ from, to }) => ({ feed, from, to })),
  );
  if (places.length === 0) return new Map();
  // Walks that prove many ranges may take longer than the page lets them; the bars are right without.
  const found = await witnessesOf(db, places).catch((error: unknown) => {
    if (isCancelled(error)) return [];
    throw error;
  });
  return new Map(
    told.map(({ feed }) => [feed, found.filter((_, index) => places[index]?.feed === feed)]),
  );
}

interface Beside {
  readonly points: readonly TimedHeight[];
  readonly witnesses: readonly (Witnesses | null)[];
  readonly called: (command: string) => string;
}

function ribbonFacts(
  ribbon: Ribbon,
  feed: Feed,
  { points, witnesses, called }: Beside,
): RibbonFacts {
  const { whole, window, segments, amounts, gaps } = ribbon;
  const hasBelow = segments.some(({ state }) => state === 'unknown');
  return {
    whole,
    window,
    segments: segments.map((segment, index) => ({
      ...segment,
      witnesses: isRead(segment.state) ? (witnesses[index] ?? null) : null,
    })),
    amounts,
    gaps: gaps.map((gap) => ({ ...gap, ...mendingOf(gap, ribbon, feed, called) })),
    below: hasBelow ? historyOf(feed, called) : null,
    points,
  };
}

const isRead = (state: string) => state !== 'unknown' && state !== 'unwanted' && state !== 'gap';

const flags = ({ chain_id, operation }: Feed) => `--chain ${chain_id} --operation ${operation}`;

/** A list by height is read where it is missing; batches that the chain does not prove are repaired. */
function mendingOf(
  gap: Heights,
  { itemsPerBlock, pagesPerItem }: Ribbon,
  feed: Feed,
  called: Beside['called'],
): Mending {
  const { from, to } = gap;
  const size = to - from + 1;
  if (feed.coverage?.of === 'batches') {
    const each = feed.coverage.read > 0 ? feed.pages / feed.coverage.read : null;
    // Above the newest batch are those that the list names, which polls request.
    const { newest } = feed.coverage;
    const isAbove = newest !== null && from > newest;
    return {
      command: called(isAbove ? `explorer-etl sync ${flags(feed)}` : repairCommand(feed)),
      cost: each === null ? null : costOf(size * each),
    };
  }
  const isKnown = itemsPerBlock !== null && pagesPerItem !== null;
  return {
    command: called(`explorer-etl backfill ${flags(feed)} --from-block ${from} --to-block ${to}`),
    cost: isKnown ? costOf(size * itemsPerBlock * pagesPerItem) : null,
  };
}

/** About so many pages: one at least. */
function costOf(pages: number): string {
  const most = Math.max(1, Math.ceil(pages));
  return `about ${counted(most, 'page')}, ${counted(most * creditsPerPage, 'credit')}`;
}

function historyOf(feed: Feed, called: Beside['called']): Mending {
  const { likely, most } = feed.left.requests;
  const pages = likely ?? most;
  return {
    command: called(`explorer-etl backfill ${flags(feed)}`),
    cost:
      pages === null
        ? null
        : `all of its history: ${counted(pages, 'page')}${likely === null ? ' at most' : ', estimated'}, ${counted(pages * creditsPerPage, 'credit')}`,
  };
}

function feedFacts(feed: Feed, ribbon: RibbonFacts | null): FeedFacts {
  const { coverage: known } = feed;
  const unit = known?.of === 'batches' || (known?.of === 'blocks' && known.unit === 'batches');
  return {
    feed: feed.feed,
    chain: feed.chain_name,
    list: listName(feed.operation),
    unit: unit ? 'batches' : 'blocks',
    share: shareText(feed.proved),
    isWorked: feed.lanes.some(({ state }) => working.has(state)),
    ribbon,
    census: known?.of === 'ranking' ? { asOf: known.as_of, count: known.factories } : null,
  };
}

/** What a lane is at whose walks go on by themselves. */
const working: ReadonlySet<string> = new Set(['running', 'awaiting', 'queued', 'resting']);

/** What somebody looks at closely. */
interface Chosen {
  readonly feed: string;
  /** Null: all of it. */
  readonly window: Range | null;
}

/** What the address asks for; what it does not know is as if it were not there. */
function chosenOf(query: URLSearchParams, { feeds }: StatusDocument): Chosen | null {
  const feed = feeds.find((one) => one.feed === query.get('coverage-feed'))?.feed;
  if (feed === undefined) return null;
  const [from, to] = [heightOf(query, 'coverage-from'), heightOf(query, 'coverage-to')];
  return { feed, window: from === null || to === null ? null : { from, to } };
}

function heightOf(query: URLSearchParams, name: string): number | null {
  const text = query.get(name) ?? '';
  const height = Number(text);
  return /^\d+$/u.test(text) && Number.isSafeInteger(height) ? height : null;
}

function spanOf(query: URLSearchParams): Span | null {
  const asked = query.get('coverage-span');
  return asked === 'hour' || asked === 'day' || asked === 'week' ? asked : null;
}
