import type { SQL } from 'drizzle-orm';
import type { z } from 'zod';
import type { Database, Transaction } from '../db/transaction.ts';
import type { FailureClass } from '../failure.ts';
import type { Configured } from './define.ts';
import type { Feed, FeedLane } from './feed.ts';
import type { Cursor, ListKindName, ListUnit, Scope } from './operation.ts';
import type { FeedSettings } from './settings.ts';
import type { Lane, RunRow, RunScope } from './tables.ts';

/** Why lanes are looked at: a person wants all current, a schedule fired, or a process started. */
export type Occasion = 'sync' | 'schedule' | 'start';

/** A lane, and what of it. */
export interface Target<Wanted extends RunScope = RunScope> {
  readonly lane: FeedLane;
  readonly scope: Wanted;
}

/** A lane's run, with what it covers in the terms of its list. */
export type RunOf<Wanted extends RunScope> = Omit<RunRow, 'scope'> & { readonly scope: Wanted };

/** What a command's flags put in place of the configuration's bounds. */
export interface ScopeBounds {
  /** Null: all there is. */
  readonly since?: string | null;
  readonly maxPages?: number;
  readonly fromBlock?: number;
  readonly toBlock?: number;
  readonly fromBatch?: number;
  readonly toBatch?: number;
}

/** A walk to begin: what it covers, and the cursor it starts from; null is the head. */
export interface PlannedWalk<Walk extends Scope = Scope> {
  readonly scope: Walk;
  /** The block that it goes past before it ends; null: to the end, or to the run's bounds. */
  readonly floor: number | null;
  /** How far below the covered top the walk, and those beside it, go, in ms. */
  readonly depthMs?: number;
  readonly cursor: Cursor | null;
  /** Walks that begin with it, for a worker that is free. */
  readonly beside?: readonly PlannedWalk<Walk>[];
}

/** Null: nothing is left to begin. 'wait': that depends on a walk under way. */
export type WalkPlan<Walk extends Scope = Scope> = PlannedWalk<Walk> | 'wait' | null;

/** How many requests something takes, as `likely` and `requests` of an estimate. */
export type RequestCount = Pick<Estimate, 'likely' | 'requests'>;

/** A number of requests. */
export interface Estimate {
  /** It hardly takes fewer. */
  readonly least: number;
  /** What it takes if all is as it was where it was read; null: that would say nothing. */
  readonly likely: number | null;
  /** It hardly takes more; null: unknown. */
  readonly requests: number | null;
}

/** What a feed's history and a day of it cost. */
export interface Estimates {
  readonly history: Estimate;
  readonly upkeep: Estimate;
}

export interface EstimateOptions {
  readonly unit: ListUnit;
  readonly pageSize: number;
  readonly pollsPerDay: number;
}

/** What is verified of a list. All is SQL over a row of `feeds`, unless it says otherwise. */
export interface ListCoverage {
  /** Whether anything verifies the feed; else it is open, for the detail of a finding that is given here. */
  readonly shows: SQL;
  readonly lacks: string;
  /** What verifies it: ranges of the list, each for itself, or one pass over all of it. */
  readonly by: 'ranges' | 'census';
  /** A statement for the verified ranges: a JSON list, or null. */
  readonly covered: SQL;
  /** A statement for notes: a JSON list of raw findings (src/status/findings.ts), or null. */
  readonly notes: SQL;
  /** A statement for what keeps feeds open: `feed`, and `finding`, a raw finding; of all feeds. */
  readonly findings: SQL;
  /** Whether a finished walk, a row `later`, read the place of an item, a row `item` of `etl.quarantine`. */
  readonly readsAgain: SQL;
}

/** What `status` shows. All is SQL over a row of `feeds`. */
export interface ListReach {
  /** The progress of a run, a row `latest`: JSON. */
  readonly progress: SQL;
  /** A statement for what is verified: `positions`, `gaps`, the `missing` positions in them, `snapshot_at`. */
  readonly verified: SQL;
  /** A statement for `timestamp` of the newest items, in the order of the list; null: they have no times. */
  readonly newestTimes: SQL | null;
}

/**
 * A kind of list: how its order reports what is new, what was read and what is missing. All that the rest
 * of the program knows of a list, beside its operation. Nothing is optional: what a kind does not have,
 * it says. `Settings` is what the configuration says of a feed, `Wanted` what a run of it covers, and `Walk`
 * what a walk does.
 */
export interface ListKind<
  Settings extends FeedSettings = FeedSettings,
  Wanted extends RunScope = RunScope,
  Walk extends Scope = Scope,
  Facts = unknown,
> {
  readonly name: ListKindName;
  /** What the configuration may say of an operation's feed; parsing `{}` gives the defaults. */
  settings(operation: Configured): z.ZodType<Settings>;
  /** Which flags bound it. */
  readonly bounds: readonly (keyof ScopeBounds)[];
  /** Whether there is history that is read once; else every walk reads the whole list. */
  readonly hasHistory: boolean;
  /** Whether history that is verified can be read again, for what came late. */
  readonly canReadAgain: boolean;
  /** The lanes of a feed, and what a run of each covers. */
  lanes(
    settings: Settings,
    bounds: ScopeBounds,
  ): readonly { readonly lane: Lane; readonly scope: Wanted }[];
  /** The settings with bounds that reach further than they do in their place: they judge coverage. */
  extended(settings: Settings, bounds: ScopeBounds): Settings;
  /** Whether the configuration itself says how much of the list is wanted. */
  isBounded(settings: Settings): boolean;
  /** What a command's bounds make of the settings: the feed's target from now on. Null: it names none. */
  target(settings: Settings, bounds: ScopeBounds): Partial<Settings> | null;
  /** What a walk of the lane is about, to request only whether the service answers. */
  walkScope(scope: Wanted): Walk;
  /** The same scope for a person who waits: what a person asks for is read now, whatever its interval. */
  atOnce(target: Target<Wanted>): Wanted;
  /** Whether a lane has something to do at a time. */
  isDue(db: Database, target: Target<Wanted>, occasion: Occasion, at: Date): Promise<boolean>;
  /** How many walks of a lane run at once, at most. */
  walksAtOnce(db: Database, lane: FeedLane): Promise<number>;
  /** Notes, as a run opens, that this is requested, beside what is requested already. */
  noteTarget(tx: Transaction, lane: FeedLane, scope: Wanted): Promise<void>;
  /** Makes what a chain's lanes ask for all that is requested. What was read stays. */
  reconcileTarget(db: Database, feed: Feed, scopes: readonly Wanted[]): Promise<void>;
  /**
   * Whether a walk that failed so is given up, so that the next one reads the list from its head; else it
   * goes on from where it was.
   */
  beginsAnew(failure: FailureClass): boolean;
  /** The run's next walk. */
  nextWalk(tx: Transaction, run: RunOf<Wanted>, at: Date): Promise<WalkPlan<Walk>>;
  readonly coverage: ListCoverage;
  /**
   * As SQL: whether the ledger can do without an ended walk, a row `later`, which brought nothing: nothing
   * is concluded from it that is not concluded from others.
   *
   * @param at the present
   */
  isPrunable(at: Date): SQL;
  /**
   * What the ranges count that are verified.
   *
   * @param unit what the heights of the list count
   */
  covers(unit: ListUnit): ListUnit | 'ranks';
  readonly status: ListReach;
  /** Null: its items have no heights. */
  readonly ribbon: ListRibbon | null;
  /** As SQL, over a row of `feeds` with the settings to estimate by: the facts of an estimate, as JSON or null. */
  readonly facts: SQL;
  /** @param facts null: the feed is not registered yet */
  estimate(facts: Facts | null, settings: Settings, how: EstimateOptions): Estimates;
  /** The scopes that close what is open of a feed's lane, one after the other; none: it needs no walk. */
  repairs(db: Database, target: Target<Wanted>): Promise<readonly Wanted[]>;
  /** How many requests they take. */
  repairRequests(
    db: Database,
    feed: Feed,
    history: Estimate,
    how: { readonly pageSize: number },
  ): Promise<RequestCount>;
  /** Flags that bound it, as an example of `sync` and of `backfill`; null: it has none. */
  readonly examples: { readonly sync: string | null; readonly backfill: string | null };
}

/** Nothing is left to read. */
export const none: Estimate = { least: 0, likely: 0, requests: 0 };

/** So much at least; how much more is unknown. */
export const atLeast = (least: number): Estimate => ({
  least: Math.ceil(least),
  likely: null,
  requests: null,
});

/** About so much. */
export const about = (count: number): Estimate => {
  const requests = Math.ceil(count);
  return { least: requests, likely: requests, requests };
};

/** From so much to so much. */
export const upTo = (least: number, most: number): Estimate => {
  const requests = Math.ceil(most);
  const from = Math.min(Math.ceil(least), requests);
  return { least: from, likely: from === requests ? requests : null, requests };
};

/** About so much, and at most so much. */
export const likelyUpTo = (likely: number, most: number): Estimate => {
  const range = upTo(likely, most);
  return { ...range, likely: range.least };
};

export const dayMs = 86_400_000;

/** Half of a list's last page is empty, on average. */
export const halfPage = 0.5;

/**
 * What is drawn of a list whose items have positions: blocks, or numbers of batches. All is SQL, of what is
 * bounded however long the history is.
 */
export interface ListRibbon {
  /**
   * A statement for `feed`, `begins`, `ends` (exclusive) and a multirange for each state, of all feeds of the kind:
   * `verified`; `gap`: wanted, and missing or unconfirmed; `quarantined`: verified but for an item in quarantine;
   * `reading`: a walk is under way there; `unverified`: read, and verified by what is to come; `unknown`: below all
   * that was ever read, and the list may end anywhere there; `out_of_range`: not wanted. No two of a feed's
   * overlap, and together they are all that lies below `ends`.
   */
  readonly parts: SQL;
  /**
   * A statement for `feed`, `from`, `to`, `height` and `timestamp` of stored items near the heights of rows
   * `asked` (feed, height, from, to).
   */
  readonly times: SQL;
}
