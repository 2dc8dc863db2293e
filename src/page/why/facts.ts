/** What somebody looks for: what it may be follows from how it is written. */
export interface Term {
  readonly is: 'hash' | 'address' | 'number';
  /** Hex in lower case with `0x`, or digits. */
  readonly value: string;
}

/** A row that has it. Times are ISO 8601. */
export interface FoundRow {
  /** With its schema. */
  readonly table: string;
  /** The column that has it. */
  readonly column: string;
  readonly key: Readonly<Record<string, string | number>>;
  readonly chain_id: number;
  readonly first_seen_at: string;
  readonly updated_at: string;
  readonly removed_at: string | null;
  readonly page_id: number;
  /** Its columns in their order; long values are cut. */
  readonly fields: readonly (readonly [name: string, value: string | null])[];
}

/** Rows of one table that have it in one column, a few of them. */
export interface FoundRows {
  readonly table: string;
  readonly column: string;
  readonly rows: readonly FoundRow[];
  /** Whether there are more. */
  readonly isCut: boolean;
}

/** The page that a row came with, and why it was asked for. */
export interface Origin {
  readonly page_id: number;
  readonly sequence: number;
  /** JSON; null: the first page of the list. */
  readonly cursor_in: string | null;
  readonly fetched_at: string;
  readonly latency_ms: number;
  readonly credits: number;
  readonly attempts: number;
  readonly items: number;
  readonly inserted: number;
  readonly changed: number;
  readonly quarantined: number;
  readonly body_hash: string;
  readonly walk_id: number;
  readonly feed: string;
  readonly lane: string;
  readonly kind: string;
  /** JSON. */
  readonly scope: string;
  readonly state: string;
  readonly reason: string | null;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly run_id: number;
  readonly run_state: string | null;
}

/** What the archive has of a row. */
export type Archived =
  | { readonly is: 'not-looked-at' }
  | { readonly is: 'not-kept' }
  | { readonly is: 'too-large' }
  | { readonly is: 'unreadable' }
  | { readonly is: 'not-found'; readonly items: number }
  | { readonly is: 'item'; readonly text: string; readonly length: number };

/** What changed a row after it came, or says when it came. */
export type Change =
  | {
      readonly is: 'late';
      readonly seen_at: string;
      readonly late_s: number | null;
      readonly page_id: number;
    }
  | {
      readonly is: 'replaced';
      readonly old_hash: string;
      readonly new_hash: string;
      readonly observed_at: string;
      readonly page_id: number;
    };

/** A row with its reasons. */
export interface Explained extends FoundRow {
  readonly origin: Origin | null;
  readonly archived: Archived;
  readonly changes: readonly Change[];
}

/** What is known of what somebody looks for. */
export interface Findings {
  readonly term: Term;
  readonly found: readonly (Omit<FoundRows, 'rows'> & { readonly rows: readonly Explained[] })[];
  /** Where it was looked for, such as `explorer.blocks.hash`. */
  readonly lookedAt: readonly string[];
}
