/** How a number of a list stands: a block, or a batch. */
export type SegmentState =
  'missing' | 'doubtful' | 'unknown' | 'reading' | 'waiting' | 'unwanted' | 'proved';

/** Numbers of a list: both ends belong to it. */
interface NumberRange {
  readonly from: number;
  readonly to: number;
}

/** The walks that bear out a segment, of those that were looked at. */
interface WalksView {
  readonly walks: number;
  /** More may bear it out than were looked at. */
  readonly isCut: boolean;
  readonly first: number;
  readonly last: number;
  readonly lanes: readonly string[];
  /** ISO 8601: when the oldest and the newest of them began. */
  readonly oldest: string;
  readonly newest: string;
}

/** A segment with what is known of it. */
export interface SegmentView extends NumberRange {
  readonly state: SegmentState;
  /** The first and the last bucket of the bar that it takes. */
  readonly first: number;
  readonly last: number;
  /** Ranges of the state, and what they hold. */
  readonly pieces: number;
  readonly numbers: number;
  /** Null: none bears it out, or it was not looked for. */
  readonly walks: WalksView | null;
  /** When its lowest and its highest number were, in ms since 1970; null: not known. */
  readonly fromAt: number | null;
  readonly toAt: number | null;
  /** What mends it, as the user types it; null: nothing is to be done, or it mends itself. */
  readonly command: string | null;
  /** About so many pages that costs; null: not known. */
  readonly pages: number | null;
}

interface NamedView {
  readonly feed: string;
  readonly chain: string;
  readonly list: string;
  /** The part that is proved, in words. */
  readonly share: string;
}

/** A list that has ranges. */
export interface RibbonView extends NamedView {
  readonly kind: 'ribbon';
  readonly unit: 'block' | 'batch';
  readonly window: NumberRange;
  /** All of it. */
  readonly whole: NumberRange;
  readonly buckets: number;
  readonly segments: readonly SegmentView[];
  readonly ticks: readonly { readonly height: number; readonly at: number | null }[];
  /** Whether somebody is on its walks now. */
  readonly isWorked: boolean;
}

/** A list that is read whole each time. */
export interface CensusView extends NamedView {
  readonly kind: 'census';
  /** ISO 8601; null: never. */
  readonly asOf: string | null;
  readonly factories: number;
}

/** A list of which nothing is known yet. */
export interface UnreadView extends NamedView {
  readonly kind: 'unread';
}

export type CoverageView = RibbonView | CensusView | UnreadView;
