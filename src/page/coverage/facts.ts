/** A part of a list in one state, as `src/report/ribbon/parts.ts` tells it. */
export type PartState = 'proved' | 'gap' | 'held' | 'flight' | 'waiting' | 'unknown' | 'unwanted';

/** Heights, both included. */
export interface Heights {
  readonly from: number;
  readonly to: number;
}

/** A time, in ms since 1970, that is known of a height. */
export interface TimedHeight {
  readonly height: number;
  readonly at: number;
}

/** What a segment rests on. */
export interface WitnessFacts {
  readonly walks: number;
  readonly isMore: boolean;
  readonly first: number;
  readonly last: number;
  readonly lanes: readonly string[];
  readonly oldest: string;
  readonly newest: string;
}

/** A stretch of the bar. */
export interface SegmentFacts extends Heights {
  readonly state: PartState;
  /** Heights of it in that state, and in how many ranges. */
  readonly count: number;
  readonly ranges: number;
  readonly witnesses: WitnessFacts | null;
}

/** How something missing is read, and what that takes. */
export interface Mending {
  readonly command: string;
  /** Pages and credits in words; null: not known. */
  readonly cost: string | null;
}

/** A gap, with what mends it. */
export interface GapFacts extends Heights, Mending {}

/** The bar of a list that has heights. */
export interface RibbonFacts {
  readonly whole: Heights;
  readonly window: Heights;
  readonly segments: readonly SegmentFacts[];
  readonly amounts: readonly {
    readonly state: PartState;
    readonly count: number;
    readonly ranges: number;
  }[];
  readonly gaps: readonly GapFacts[];
  /** Reads what lies below all that was read; null: there is no such part, or nothing is to be done. */
  readonly below: Mending | null;
  readonly points: readonly TimedHeight[];
}

/** What the panel says of a feed. */
export interface FeedFacts {
  readonly feed: string;
  readonly chain: string;
  readonly list: string;
  readonly unit: 'blocks' | 'batches';
  /** The part that is proved, in words with what it rests on. */
  readonly share: string;
  /** Whether a process is at its walks; else what is in flight waits for one. */
  readonly isWorked: boolean;
  /** Null: nothing is known of it yet, or it is a ranking. */
  readonly ribbon: RibbonFacts | null;
  /** Of a ranking: when it was read last, and how many it ranked; null: it is none. */
  readonly census: { readonly asOf: string | null; readonly count: number } | null;
}

/** How long a newest part of all lists is shown. */
export type Span = 'hour' | 'day' | 'week';

/** What the panel is made from. */
export interface CoverageFacts {
  readonly query: URLSearchParams;
  readonly asOf: string;
  /** Null: heights that were chosen, or all. */
  readonly span: Span | null;
  /** The feed that is looked at closely. */
  readonly chosen: string | null;
  readonly feeds: readonly FeedFacts[];
}
