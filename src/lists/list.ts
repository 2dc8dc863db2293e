import { CronExpressionParser } from 'cron-parser';
import type { SQL } from 'drizzle-orm';
import { z } from 'zod';
import type { Database, Queryable, Transaction } from '../db/transaction.ts';
import { creditsPerRequest } from '../explorer/budget.ts';
import type { CountsByPage } from '../load/upsert.ts';
import { parseDuration, parseTime } from '../time.ts';
import type { Feed, FeedLane } from './feed.ts';
import type {
  Cursor,
  Defaults,
  EndClaim,
  EndVerdict,
  PageInWalk,
  Scope,
  WalkEndContext,
} from './operation.ts';
import type { Lane, RunRow, RunScope } from './tables.ts';

/** Why lanes are checked: a person wants all current, a schedule fired, or a process started. */
export type Occasion = 'sync' | 'schedule' | 'start';

export interface Target<Wanted extends RunScope = RunScope> {
  readonly lane: FeedLane;
  readonly scope: Wanted;
}

export type RunOf<Wanted extends RunScope> = Omit<RunRow, 'scope'> & { readonly scope: Wanted };

/** What a command's flags say of what its runs read. */
export interface ScopeBounds {
  /** Null: all there is. */
  readonly since?: string | null;
  readonly maxPages?: number;
  readonly fromBlock?: number;
  readonly toBlock?: number;
  readonly fromBatch?: number;
  readonly toBatch?: number;
  /** Whether known history is read once more, for late arrivals. */
  readonly again?: boolean;
}

/** A walk to begin. The cursor null is the head of the list. */
export interface PlannedWalk<Walk extends Scope = Scope> {
  readonly scope: Walk;
  /** The block that it goes past before it ends; null: the list's end, or the run's bounds. */
  readonly floor: number | null;
  /** The depth of the overlap or rule that the walks follow, in ms. */
  readonly depthMs?: number;
  readonly cursor: Cursor | null;
  readonly beside?: readonly PlannedWalk<Walk>[];
}

/** Null: nothing is left to begin. 'wait': that depends on a walk under way. */
export type WalkPlan<Walk extends Scope = Scope> = PlannedWalk<Walk> | 'wait' | null;

export type RequestCount = Pick<Estimate, 'likely' | 'most'>;

const amount = z.number().min(0);

/** How many requests something takes. */
export const estimate = z.strictObject({
  least: amount,
  likely: amount.nullable().describe('At the density read so far. Null: unknown.'),
  most: amount.nullable().describe('The upper bound. Null: unknown.'),
});
export type Estimate = Readonly<z.infer<typeof estimate>>;

/** What a feed's history and a day of it cost. */
export interface Estimates {
  readonly history: Estimate;
  readonly upkeep: Estimate;
}

export interface EstimateOptions {
  readonly pageSize: number;
  readonly pollsPerDay: number;
}

export interface RepairOptions {
  readonly pageSize: number;
  /** What is left of the feed's history. */
  readonly history: RequestCount;
}

/** What a list's kind does with it. `Settings` configures a feed; a run covers `Wanted`, and a walk `Walk`. */
export interface ListKind<
  Settings extends FeedSettings = FeedSettings,
  Wanted extends RunScope = RunScope,
  Walk extends Scope = Scope,
  Facts = unknown,
> {
  /** What walks verify: ranges of heights; batches, whose rows only a whole walk decides; or ranks, of all items at once. */
  readonly verifies: 'heights' | 'batches' | 'ranks';
  /** What the configuration may say of a feed; parsing `{}` gives the defaults. */
  readonly settings: z.ZodType<Settings>;
  /** What a command may say; those that are settings too replace the configuration's. */
  readonly bounds: readonly (keyof ScopeBounds)[];
  lanes(
    settings: Settings,
    bounds: ScopeBounds,
  ): readonly { readonly lane: Lane; readonly scope: Wanted }[];
  /** With the settings to estimate by: JSON or null. */
  readonly facts: SQL;
  /** `facts` is null if the feed is not registered yet. */
  estimate(facts: Facts | null, settings: Settings, how: EstimateOptions): Estimates;
  isDue(db: Database, target: Target<Wanted>, occasion: Occasion, at: Date): Promise<boolean>;
  walksAtOnce(db: Database, lane: FeedLane): Promise<number>;
  /** Adds what runs request to the feed's target, or replaces that. What was read stays. */
  noteTarget(
    db: Queryable,
    feed: Feed,
    scopes: readonly Wanted[],
    how: 'add' | 'replace',
  ): Promise<void>;
  nextWalk(tx: Transaction, run: RunOf<Wanted>, at: Date): Promise<WalkPlan<Walk>>;
  /** The scope of a request that only checks whether the service answers. */
  sample(scope: Wanted): Walk;
  /** The scopes that close what is open of a lane, one after the other; none: it needs no walk. */
  repairs(db: Database, target: Target<Wanted>): Promise<readonly Wanted[]>;
  repairRequests(db: Database, feed: Feed, how: RepairOptions): Promise<RequestCount>;
  /** Judges the claim that the list ends here by what is stored. Changes nothing. */
  judgeEnd(db: Queryable, claim: EndClaim<Walk>): Promise<EndVerdict>;
  /**
   * Writes pages by `load`, and what they say beyond their own rows.
   * @returns the numbers of pages that stored rows refute: they verify nothing
   */
  writePages(
    tx: Transaction,
    pages: readonly PageInWalk<Walk>[],
    load: () => Promise<CountsByPage>,
  ): Promise<ReadonlySet<number>>;
  /**
   * Runs in the transaction of a walk's last page, at the list's end or a known block; a feed's
   * walks end one at a time. Returns the reason why the walk says less than a whole list, or null.
   */
  afterWalk(tx: Transaction, walk: WalkEndContext<Walk>): Promise<string | null>;
}

/** No page is refuted. */
export const noneRefuted: ReadonlySet<number> = new Set();

export const none: Estimate = { least: 0, likely: 0, most: 0 };

export const atLeast = (least: number): Estimate => ({
  least: Math.ceil(least),
  likely: null,
  most: null,
});

export const about = (count: number): Estimate => upTo(count, count);

export const upTo = (least: number, upper: number): Estimate => {
  const most = Math.ceil(upper);
  const from = Math.min(Math.ceil(least), most);
  return { least: from, likely: from === most ? most : null, most };
};

export const likelyUpTo = (likely: number, most: number): Estimate => {
  const range = upTo(likely, most);
  return { ...range, likely: range.least };
};

/** What the last polls of a feed took. */
export interface PollFacts {
  readonly count: number;
  /** Of one, on average. */
  readonly credits: number;
}

/** Fewer polls say little: the first one reads what is already there. */
const fewestPolls = 5;

/** The requests of a day of polls, by what the last ones took; null: too few have ended. */
export const pollsMeasured = (polls: PollFacts | null, perDay: number): number | null =>
  polls === null || polls.count < fewestPolls ? null : (perDay * polls.credits) / creditsPerRequest;

export const dayMs = 86_400_000;

/** Half of a list's last page is empty, on average. */
export const halfPage = 0.5;

/** Five fields or a nickname: the queue reads schedules once a minute, so no seconds. */
const cronShape = /^(?:\S+\s+){4}\S+$|^@(?:yearly|annually|monthly|weekly|daily|hourly)$/u;

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

const isSchedule = (text: string) =>
  cronShape.test(text.trim()) && isReadable(() => CronExpressionParser.parse(text, { tz: 'UTC' }));

/** A duration with its unit; in ms once it is read. */
export const durationSetting = z
  .string()
  .refine(
    (text) => parseDuration(text) !== null,
    'not a duration: a number and a unit, such as 30s',
  )
  .transform((text) => parseDuration(text) ?? 0);

/** What every kind of list has: when to poll, with the cost of each poll. */
export const polling = ({ schedule }: Defaults, cost: string) => ({
  schedule: z
    .string()
    .refine(isSchedule, 'not a cron schedule: five fields, such as "*/5 * * * *"')
    .default(schedule)
    .describe(`When to poll, as five cron fields. ${cost}`),
  timezone: z
    .string()
    .refine(
      (timeZone) => isReadable(() => new Intl.DateTimeFormat('en', { timeZone })),
      'not a time zone: a name such as Europe/Berlin',
    )
    .default('UTC')
    .describe('IANA time zone that the schedule is read in.'),
  freshness: durationSetting
    .nullish()
    .transform((ms) => ms ?? null)
    .describe(
      'How old the last look at the head of the list may be, such as 15m: explorer.freshness shows whether it is. Costs nothing. Without it nothing is judged.',
    ),
});

/** What every feed is configured with, beside the settings of its kind; durations in ms. */
export type FeedSettings = Readonly<z.output<z.ZodObject<ReturnType<typeof polling>>>>;

/** Settings as they are stored: those of a list that this version does not know are others. */
export const settingsShape = () =>
  z.custom<FeedSettings>((settings) => typeof settings === 'object');

/** A date or timestamp; ISO 8601 in UTC once it is read, null if absent. */
export const timeSetting = z
  .string()
  .refine((text) => parseTime(text) !== null, 'not a date or timestamp, such as 2024-01-01')
  .transform((text) => parseTime(text))
  .nullish()
  .transform((text) => text ?? null);
