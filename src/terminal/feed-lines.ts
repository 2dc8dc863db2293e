import { bar } from './bar.ts';
import { columns } from './columns.ts';
import type { Look } from './look.ts';
import { compact, counted, whole } from './numbers.ts';
import { paint, type Style } from './paint.ts';
import { fit, widthOf } from './width.ts';

/** What of a feed's work is done, and how long the whole is. */
export interface FeedShare {
  readonly done: number;
  readonly total: number;
  /** Whether the total is reckoned from what was read so far; the share is told with a `~` then. */
  readonly isReckoned: boolean;
  /** Whether people count in these themselves, as in `6 of 10` batches; else they read per cent. */
  readonly isCounted: boolean;
}

/** How a feed stands: it reads, or it ended so. */
export type FeedStand = 'reading' | 'done' | 'paused' | 'failed' | 'unserved';

/** What a line of progress shows of a feed. All text is fit for a terminal. */
export interface FeedLine {
  readonly chain: string;
  readonly list: string;
  /** Null while nobody knows how long it is. */
  readonly share: FeedShare | null;
  readonly rows: number;
  readonly pages: number;
  readonly credits: number;
  readonly stand: FeedStand;
  /** Behind the sign of the stand: `2s left`, `proved complete`, `unauthorized`. */
  readonly note: string;
}

/** The sign of each stand, and its colour. */
const signs: Readonly<Record<FeedStand, { readonly sign: string; readonly style: Style | null }>> =
  {
    reading: { sign: '', style: null },
    done: { sign: '✓ ', style: 'good' },
    paused: { sign: '‖ ', style: 'warning' },
    failed: { sign: '✗ ', style: 'bad' },
    unserved: { sign: '– ', style: 'quiet' },
  };

/** How wide a bar is at most and at least, in columns. */
const widestBar = 20;
const narrowestBar = 6;
/** Kept free for what changes while feeds read, so that bars keep their width; in columns. */
const usualNote = 12;
const usualLabel = 5;

/** What a narrow terminal does without, one after the other. */
interface Layout {
  readonly hasCredits: boolean;
  readonly number: (count: number) => string;
  readonly hasShare: boolean;
}

const short = (count: number) => (count < 100_000 ? whole(count) : compact(count));

const layouts: readonly Layout[] = [
  { hasCredits: true, number: whole, hasShare: true },
  { hasCredits: true, number: short, hasShare: true },
  { hasCredits: true, number: compact, hasShare: true },
  { hasCredits: false, number: compact, hasShare: false },
];

/**
 * A line for each feed, the chain told once: chain, list, bar, rows, pages, credits, and how it stands.
 * They are no wider than the terminal: first the bar gives way, then digits, then columns.
 *
 * @param words `head`: a line above says what is counted; `cells`: each cell does, and credits are left out
 */
export function feedLines(
  look: Look,
  lines: readonly FeedLine[],
  words: 'head' | 'cells' = 'head',
): string[] {
  const told = words === 'head' ? layouts : layouts.map((way) => ({ ...way, hasCredits: false }));
  let drawn: string[] = [];
  for (const layout of told) {
    drawn = draw(look, lines, words, layout, narrowestBar);
    const free = usualNote - Math.max(0, ...lines.map((line) => widthOf(endOf(line))));
    const room = look.columns - Math.max(0, ...drawn.map(widthOf)) - Math.max(0, free);
    if (room >= 0)
      return draw(look, lines, words, layout, Math.min(widestBar, narrowestBar + room));
  }
  return look.isTerminal ? drawn.map((line) => fit(line, look.columns)) : drawn;
}

function draw(
  look: Look,
  lines: readonly FeedLine[],
  words: 'head' | 'cells',
  layout: Layout,
  barWidth: number,
): string[] {
  const labels = lines.map((line) => (layout.hasShare ? labelOf(line) : ''));
  const least = layout.hasShare && lines.some(({ stand }) => stand === 'reading') ? usualLabel : 0;
  const labelWidth = Math.max(least, ...labels.map((label) => widthOf(label)));
  const rows = lines.map((line, at) => {
    const { chain, list, rows: read, pages, credits, stand } = line;
    const { style } = signs[stand];
    const end = endOf(line);
    const label = labels[at] ?? '';
    return [
      lines[at - 1]?.chain === chain ? '' : chain,
      list,
      // A label is right beside its bar, and ends where the others do.
      `${bar(look, shareOf(line), barWidth)}${labelWidth === 0 ? '' : ` ${label.padStart(labelWidth)}`}`,
      layout.number(read),
      words === 'head' ? layout.number(pages) : pagesOf(layout, pages),
      ...(layout.hasCredits ? [layout.number(credits)] : []),
      style === null ? end : paint(look, style, end),
    ];
  });
  const head = ['', '', '', 'rows', 'pages', ...(layout.hasCredits ? ['credits'] : []), ''];
  return columns(look, {
    ...(words === 'head' && { head }),
    rows,
    aligns: [
      'left',
      'left',
      'left',
      'right',
      'right',
      ...(layout.hasCredits ? ['right' as const] : []),
    ],
  });
}

const endOf = ({ stand, note }: FeedLine) => `${signs[stand].sign}${note}`.trimEnd();

const pagesOf = ({ number }: Layout, pages: number) =>
  counted(pages, 'page').replace(whole(pages), number(pages));

/** What is done is full, whatever was reckoned before. */
const shareOf = ({ share, stand }: FeedLine): number | null =>
  stand === 'done' ? 1 : share === null || share.total === 0 ? null : share.done / share.total;

/** Numbers of more digits than this tell less than per cent do. */
const mostCounted = 999;

function labelOf({ share, stand }: FeedLine): string {
  if (share === null) return '';
  if (stand !== 'done') return shareText(share);
  // What was reckoned means nothing once the end is known; nor does what was counted a while before it.
  return isNumbered(share) ? shareText({ ...share, done: share.total }) : '';
}

const isNumbered = ({ isCounted, total }: FeedShare) => isCounted && total <= mostCounted;

/** How far it is: `6 of 10`, `46 %`, or `~46 %` where that is reckoned. */
export function shareText(share: FeedShare): string {
  const { done, total, isReckoned } = share;
  if (total === 0) return '';
  if (isNumbered(share)) return `${done} of ${total}`;
  // What is not the whole is not told as 100 %.
  const hundredths = Math.floor((100 * Math.min(done, total)) / total);
  return `${isReckoned ? '~' : ''}${hundredths} %`;
}
