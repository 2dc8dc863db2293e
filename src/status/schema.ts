import { z } from 'zod';
import { failureClasses } from '../failure.ts';
import { estimate } from '../lists/list.ts';
import type { ListKindName } from '../lists/operation.ts';
import { lanes, runStates } from '../lists/tables.ts';

/**
 * The status document of the terminal, the page, `/status.json`, `/readyz`, `/metrics` and the demo. Times are
 * ISO 8601 by the database's clock; durations are seconds.
 */

export const isoTime = z.iso.datetime({ offset: true });
const isoTimeOrNull = isoTime.nullable();
export const count = z.int().min(0);
const seconds = z.number();
/** Chain id, slash, operation. */
const feedName = z.string();
/** The class of a failure. */
export const failureOrNull = z.enum(failureClasses).nullable();

/** Overall states, the most severe last. */
export const overallStates = [
  'healthy',
  'syncing',
  'degraded',
  'stopped',
  'action-required',
] as const;

/** `pending`: never read, or reset. `blocked`: waits for a person, or for a usable key. */
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

/** Every reason against `healthy`, the most severe first. */
export const reasonCodes = [
  'database-unreachable',
  'database-failing',
  'key-refused',
  'request-rejected',
  'unsupported',
  'quarantine',
  'no-worker',
  'paused',
  'explorer-unreachable',
  'out-of-credits',
  'throttled',
  'source-silent',
  'stalled',
  'failing',
  'late',
  'maintenance',
  'limits-differ',
  'gap',
  'unverified',
  'pending',
  'reading',
] as const;

const reason = z.strictObject({
  code: z.enum(reasonCodes),
  /** `action`: only a person can fix it. `warning`: retried, or waiting. `info`: no problem. */
  severity: z.enum(['action', 'warning', 'info']),
  /** Whether it stops progress; `/readyz` then answers 503. */
  blocks_readiness: z.boolean(),
  /** Empty: all feeds, or none. */
  feeds: z.array(feedName),
  /** Without the names of feeds. */
  sentence: z.string(),
  /** Null: the command is the advice. */
  advice: z.string().nullable(),
  command: z.string().nullable(),
});

/** What changes no state, such as items that differ from the specification. */
const note = reason.pick({ feeds: true, sentence: true, command: true });

export const amount = z.number().min(0);
export const amountOrNull = amount.nullable();

export const positionUnit = z.enum(['blocks', 'batches', 'ranks']);
export const laneSchema = z.enum(lanes);
export const runState = z.enum(runStates);

export const lane = z.strictObject({
  lane: laneSchema,
  /** `quiet`: a worker has it, but no page came lately. */
  state: z.enum(['idle', 'running', 'quiet', 'queued', 'backing-off', 'paused', 'no-worker']),
  run_id: count,
  run_state: runState,
  run_opened_at: isoTime,
  reason: z.string().nullable(),
  /** The end of a back-off. */
  until: isoTimeOrNull,
  last_success_at: isoTimeOrNull,
  last_page_at: isoTimeOrNull,
  /** Over the last five minutes; null: no pages. */
  pages_per_second: z.number().nullable(),
  /** Since its last page; null: no worker has it. */
  quiet_s: seconds.nullable(),
});

/** Of a numbered list. */
const batches = z.strictObject({
  /** In the target range and known to exist. */
  requested: count,
  verified: count,
  unread: count,
  /** The newest ones: their upper neighbour does not exist yet. */
  waiting: count,
  unverified: count,
  without_blocks: count,
  quarantined: count,
  /** The target has a last batch. */
  is_bounded: z.boolean(),
});

export const feed = z.strictObject({
  feed: feedName,
  chain_id: count,
  chain_name: z.string(),
  /** Of the explorer that it is read from; null: it never was. */
  host: z.string().nullable(),
  operation: z.string(),
  /** The display name, such as `batch blocks`. */
  label: z.string(),
  /** The deployments whose file names it. */
  wanted_by: z.array(z.string()),
  /** False: no deployment wants it, so it is at rest. */
  is_wanted: z.boolean(),
  /** Since when a person has paused it; null: it is not. */
  paused_since: isoTimeOrNull,
  /** The order of the list. */
  kind: z.custom<ListKindName>((name) => typeof name === 'string'),
  unit: positionUnit,
  state: z.enum(feedStates),
  /** The reason for the state; null: no reason needed. */
  sentence: z.string().nullable(),
  failure: failureOrNull,
  rows: count,
  rows_today: count,
  pages: count,
  quarantined: count,
  /** Ways in which items differ from the specification of this version. */
  schema_drift: count,
  archived_bytes: count,
  last_page_at: isoTimeOrNull,
  last_success_at: isoTimeOrNull,
  /** The newest item, against the list's usual interval; null: unknown. */
  newest_item: z
    .strictObject({
      at: isoTime,
      age_s: seconds,
      usual_s: seconds,
      limit_s: seconds,
      is_met: z.boolean(),
    })
    .nullable(),
  /** Age of the newest item, of the newest batch's last block, or of the last ranking. */
  lag_s: seconds.nullable(),
  poll: z.strictObject({
    last_at: isoTimeOrNull,
    age_s: seconds.nullable(),
    /** `configured`: the file's freshness. `schedule`: two intervals. `daily`: no `start` yet. */
    target: z
      .strictObject({ seconds, from: z.enum(['configured', 'schedule', 'daily']) })
      .nullable(),
    /** Null: the first read has not ended, or no new item can come. */
    is_met: z.boolean().nullable(),
    next_at: isoTimeOrNull,
  }),
  verified: z.strictObject({
    /** Whether the whole list is verified, but for items in quarantine, which `share` leaves out. */
    is_verified: z.boolean(),
    /** Part of the target range; null: unknown length. */
    share: z.number().min(0).max(1).nullable(),
    basis: z.enum(['known', 'estimated', 'at-least', 'unknown']),
    /** Verified positions, gaps, and positions in the gaps. */
    positions: count,
    gaps: count,
    missing: count,
    batches: batches.nullable(),
  }),
  left: z.strictObject({
    requests: estimate,
    ends_in_s: seconds.nullable(),
    ends_at: isoTimeOrNull,
  }),
  progress: z.strictObject({
    /** The start of the current walk, and its position. */
    reached: z.strictObject({ top: count.nullable(), bottom: count.nullable() }).nullable(),
    /** Time of the oldest item above which nothing is missing; null: no such item, or no times. */
    reached_at: isoTimeOrNull,
  }),
  lanes: z.array(lane),
});

const forecast = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['no-limit', 'enough', 'unknown']) }),
  z.strictObject({
    kind: z.literal('history-takes-days'),
    days: z.strictObject({ least: count, most: count }),
  }),
  z.strictObject({ kind: z.literal('lasts-until'), at: isoTime }),
  z.strictObject({ kind: z.literal('spent'), until: isoTime }),
]);

/** `left` is below zero while the explorer serves a key beyond its credits. */
const money = { spent: count, limit: count.nullable(), left: z.int().nullable() };

export const keyCredits = z.strictObject({
  ...money,
  paused_until: isoTimeOrNull,
  failure: failureOrNull,
  reason: z.string().nullable(),
  /** What the files of processes at work say of it; of several, the lowest hold. */
  limits: z.array(
    z.strictObject({
      requests_per_second: z.number(),
      daily_credits: count.nullable(),
      /** Such as `start of production on a-host`. */
      stated_by: z.array(z.string()),
    }),
  ),
});

/** `status --json` and `/status.json`. */
export const statusDocument = z.strictObject({
  schema: z.literal('explorer-etl/status/2'),
  as_of: isoTime,
  overall: z.strictObject({
    state: z.enum(overallStates),
    sentence: z.string(),
    /** Null: unknown. */
    since: isoTimeOrNull,
    command: z.string().nullable(),
  }),
  reasons: z.array(reason),
  notes: z.array(note),
  totals: z.strictObject({
    rows: count,
    rows_today: count,
    newest_item_at: isoTimeOrNull,
    /** Of all feeds that are served, on average; null: one is unknown. */
    verified_share: z.number().min(0).max(1).nullable(),
  }),
  credits: z.strictObject({
    ...money,
    forecast,
    keys: z.array(keyCredits),
  }),
  /** Null: the database did not report the status. */
  workers: z.strictObject({ start: count, once: count }).nullable(),
  next_poll_at: isoTimeOrNull,
  /** Whose files want feeds, with how many feeds and processes at work. */
  deployments: z.array(z.strictObject({ name: z.string(), feeds: count, workers: count })),
  /** Feeds that no deployment wants, which are left out of `feeds`. */
  at_rest: z.array(feedName),
  /** How people read the names of all feeds, those at rest too. */
  names: z.array(feed.pick({ feed: true, chain_name: true, label: true })),
  feeds: z.array(feed),
});

export type StatusDocument = z.infer<typeof statusDocument>;
export type FeedStatus = StatusDocument['feeds'][number];
export type LaneStatus = FeedStatus['lanes'][number];
export type Reason = StatusDocument['reasons'][number];
