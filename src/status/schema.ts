import { z } from 'zod';
import { type FailureClass, failures } from '../failure.ts';
import type { ListKindName } from '../lists/operation.ts';

/**
 * How things are: the one document that the terminal, the page, `/status.json`, `/readyz`, `/metrics` and the
 * demo read. The schema is the type. Times are ISO 8601 by the database's clock; durations are seconds.
 */

export const instant = z.iso.datetime({ offset: true });
const instantOrNull = instant.nullable();
export const count = z.int().min(0);
const seconds = z.number();
/** A chain's id, a slash, and the operation. */
const feedName = z.string();
const failure = z.enum(Object.keys(failures) as [FailureClass, ...FailureClass[]]).nullable();

/** Overall states, the most severe last. */
export const overallStates = [
  'healthy',
  'syncing',
  'degraded',
  'stopped',
  'action-required',
] as const;

/** `pending`: never read. `blocked`: waits for a person, or for the key to be usable again. */
export const feedStates = [
  'pending',
  'running',
  'current',
  'behind',
  'failing',
  'blocked',
  'paused',
  'unsupported',
] as const;

/** Every reason that keeps the overall state from `healthy`, the most severe first. */
export const reasonCodes = [
  'database-unreachable',
  'key-refused',
  'request-rejected',
  'unsupported',
  'quarantine',
  'no-worker',
  'paused',
  'out-of-credits',
  'throttled',
  'source-silent',
  'standby-behind',
  'stalled',
  'failing',
  'late',
  'gap',
  'unverified',
  'pending',
  'reading',
] as const;

/** One reason: what it is, whom it concerns, and what helps. */
const reason = z.strictObject({
  code: z.enum(reasonCodes),
  /** `action`: only a person can fix it. `warning`: it is being retried, or waits. `info`: all is going well. */
  severity: z.enum(['action', 'warning', 'info']),
  /** Whether it stops progress, so that `/readyz` answers 503. */
  blocks_readiness: z.boolean(),
  /** The feeds that it concerns; empty: all of them, or none. */
  feeds: z.array(feedName),
  /** One sentence, without the names of feeds. */
  sentence: z.string(),
  /** What to do, or that nothing is to be done; null: the command says it. */
  advice: z.string().nullable(),
  /** The one command that helps. */
  command: z.string().nullable(),
});

/** From the least to the most of something; null: unknown. */
const range = z.strictObject({
  least: z.number().min(0),
  likely: z.number().min(0).nullable(),
  most: z.number().min(0).nullable(),
});

export const laneName = z.enum(['live', 'backfill']);
export const runState = z.enum(['open', 'finished', 'failed', 'interrupted', 'superseded']);

const lane = z.strictObject({
  lane: laneName,
  /** `quiet`: a worker has it and no page came for a while. `unknown`: a standby cannot see workers. */
  state: z.enum([
    'idle',
    'running',
    'quiet',
    'queued',
    'backing-off',
    'paused',
    'no-worker',
    'unknown',
  ]),
  run_id: count,
  run_state: runState,
  run_opened_at: instant,
  reason: z.string().nullable(),
  /** Until when it backs off. */
  until: instantOrNull,
  last_success_at: instantOrNull,
  last_page_at: instantOrNull,
  /** Over the last five minutes; null: no page was read. */
  pages_per_second: z.number().nullable(),
  /** Since its last page; null: no worker has it. */
  quiet_s: seconds.nullable(),
});

/** Batches of a numbered list. */
const batches = z.strictObject({
  /** In the target range and known to exist. */
  requested: count,
  verified: count,
  unread: count,
  /** The newest ones: their upper neighbour is still to come. */
  waiting: count,
  unverified: count,
  without_blocks: count,
  quarantined: count,
  /** A last batch is configured, so nothing above it is wanted. */
  is_bounded: z.boolean(),
});

const feed = z.strictObject({
  feed: feedName,
  chain_id: count,
  chain_name: z.string(),
  operation: z.string(),
  /** The list's name for people, such as `batch blocks`. */
  label: z.string(),
  /** How the list is ordered. */
  kind: z.custom<ListKindName>((name) => typeof name === 'string'),
  /** What positions of the list count. */
  unit: z.enum(['blocks', 'batches', 'ranks']),
  state: z.enum(feedStates),
  /** Why it is in that state, in a sentence; null: nothing to explain. */
  sentence: z.string().nullable(),
  failure,
  rows: count,
  rows_today: count,
  pages: count,
  quarantined: count,
  /** Fields or values that this version does not know. */
  schema_drift: count,
  archived_bytes: count,
  running_walks: count,
  last_page_at: instantOrNull,
  last_success_at: instantOrNull,
  /** The newest item, against the list's usual interval; null: not judged yet. */
  newest_item: z
    .strictObject({
      at: instant,
      age_s: seconds,
      usual_s: seconds,
      limit_s: seconds,
      is_met: z.boolean(),
    })
    .nullable(),
  /** Age of the newest item, of the newest batch's last block, or of the last ranking. */
  lag_s: seconds.nullable(),
  /** The last poll of the list's head, against its target. */
  poll: z.strictObject({
    last_at: instantOrNull,
    age_s: seconds.nullable(),
    /** `configured`: the file's freshness. `schedule`: two firings. `daily`: no `start` ever ran. */
    target: z
      .strictObject({ seconds, from: z.enum(['configured', 'schedule', 'daily']) })
      .nullable(),
    /** Null: the first read has not ended, or nothing is to come. */
    is_met: z.boolean().nullable(),
    next_at: instantOrNull,
  }),
  verified: z.strictObject({
    is_verified: z.boolean(),
    /** Part of the target range; null: the whole's length is unknown. */
    share: z.number().min(0).max(1).nullable(),
    basis: z.enum(['known', 'estimated', 'at-least', 'unknown']),
    /** Positions verified, gaps between them, and positions in the gaps. */
    positions: count,
    gaps: count,
    missing: count,
    batches: batches.nullable(),
    /** When the newest full snapshot of a ranked list began. */
    snapshot_at: instantOrNull,
  }),
  left: z.strictObject({ requests: range, ends_in_s: seconds.nullable(), ends_at: instantOrNull }),
  progress: z.strictObject({
    /** Where the current walk began, and what it has reached. */
    reached: z.strictObject({ top: count.nullable(), bottom: count.nullable() }).nullable(),
    /** Time of the oldest item above which nothing is missing; null: nothing is, or items have no times. */
    reached_at: instantOrNull,
    batches: z.strictObject({ total: count, done: count }).nullable(),
  }),
  lanes: z.array(lane),
});

const forecast = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['no-limit', 'enough', 'unknown']) }),
  z.strictObject({
    kind: z.literal('history-takes-days'),
    days: z.strictObject({ least: count, most: count }),
  }),
  z.strictObject({ kind: z.literal('lasts-until'), at: instant }),
  z.strictObject({ kind: z.literal('spent'), until: instant }),
]);

const money = { spent: count, limit: count.nullable(), left: count.nullable() };

/** `status --json` and `/status.json`. */
export const statusDocument = z.strictObject({
  schema: z.literal('explorer-etl/status/2'),
  as_of: instant,
  overall: z.strictObject({
    state: z.enum(overallStates),
    /** The banner: one sentence. */
    sentence: z.string(),
    /** Since when; null: unknown. */
    since: instantOrNull,
    command: z.string().nullable(),
  }),
  reasons: z.array(reason),
  totals: z.strictObject({
    rows: count,
    rows_today: count,
    newest_item_at: instantOrNull,
    /** Of all feeds whose share is known. */
    verified_share: z.number().min(0).max(1).nullable(),
  }),
  credits: z.strictObject({
    ...money,
    forecast,
    keys: z.array(
      z.strictObject({
        ...money,
        paused_until: instantOrNull,
        failure,
        reason: z.string().nullable(),
      }),
    ),
  }),
  /** Null: a standby does not see workers, or the database is unreachable. */
  workers: z.strictObject({ start: count, once: count }).nullable(),
  /** Null: this is the primary. */
  standby: z.strictObject({ behind_s: seconds.nullable() }).nullable(),
  next_poll_at: instantOrNull,
  feeds: z.array(feed),
});

export type StatusDocument = z.infer<typeof statusDocument>;
export type FeedStatus = StatusDocument['feeds'][number];
export type LaneStatus = FeedStatus['lanes'][number];
export type Reason = StatusDocument['reasons'][number];
