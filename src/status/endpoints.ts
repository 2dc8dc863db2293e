import { z } from 'zod';
import { events } from '../db/tables.ts';
import { questionChart } from '../query/question.ts';
import { sumsDocument } from '../query/sums.ts';
import { amount, count, isoTime, laneSchema, positionUnit, runState } from './schema.ts';

/**
 * The page's JSON endpoints beside `/status.json`: each schema gives the type to the server and the client. Times are
 * ISO 8601, durations seconds, positions blocks, batches or ranks.
 */

const position = z.int();
/** Both ends included. */
export const range = z.strictObject({ from: position, to: position });
/** With the times of its lowest and highest stored item; null: items have no times. */
const timedRange = range.extend({ from_at: isoTime.nullable(), to_at: isoTime.nullable() });

/** States of a drawn part, the most important first: verified parts never hide a gap. */
export const cellStates = [
  'gap',
  'quarantined',
  'reading',
  'unverified',
  'verified',
  'out-of-range',
  'unknown',
] as const;

export const cell = z.enum(cellStates);

/** `GET /strips.json`: a strip of cells for each feed, all on one time axis. */
export const stripsDocument = z.strictObject({
  from: isoTime,
  to: isoTime,
  /** Each cell starts at `from + index × (to − from) / cells`. */
  cells: count,
  feeds: z.array(z.strictObject({ feed: z.string(), cells: z.array(cell) })),
});

/** `GET /coverage.json?feed=&from=&to=&cells=`: a feed's coverage over a window of positions. */
export const coverageDocument = z.strictObject({
  feed: z.string(),
  unit: positionUnit,
  /** The known or requested list; null: no data. */
  whole: range.nullable(),
  window: range.nullable(),
  segments: z.array(timedRange.extend({ state: cell })),
  /** Gaps in the window, newest first, at most 50. */
  gaps: z.array(
    timedRange.extend({
      /** Estimated; null: unknown. */
      requests: count.nullable(),
      command: z.string(),
    }),
  ),
  /** For a person to poll, pause or resume the feed. */
  commands: z.array(
    z.strictObject({ handle: z.enum(['run', 'pause', 'resume']), command: z.string() }),
  ),
});

/** `GET /throughput.json?hours=&feed=`: the ledger in equal bins, oldest first. */
export const throughputDocument = z.strictObject({
  from: isoTime,
  to: isoTime,
  bin_s: z.number(),
  bins: z.array(
    z.strictObject({
      at: isoTime,
      pages: count,
      rows: count,
      credits: count,
      /** Age of the newest item at the poll; null: no poll in this bin. */
      lag_s: z.number().nullable(),
    }),
  ),
});

/** `GET /runs.json?hours=&feed=`: runs and events, newest first. */
export const runsDocument = z.strictObject({
  from: isoTime,
  to: isoTime,
  runs: z.array(
    z.strictObject({
      id: count,
      feed: z.string(),
      lane: laneSchema,
      state: runState,
      opened_at: isoTime,
      ended_at: isoTime.nullable(),
      pages: count,
      rows: count,
      /** Requests that failed, the first failure, and the time that it waited after failures. */
      failed_requests: count,
      first_failure: z.string().nullable(),
      waited_s: amount,
      reason: z.string().nullable(),
    }),
  ),
  events: z.array(
    z.strictObject({
      at: isoTime,
      kind: z.enum(events.kind.enumValues),
      feed: z.string().nullable(),
      sentence: z.string(),
    }),
  ),
});

/** `GET /queries.json`: the named queries, and the tables and columns for queries. */
export const queriesDocument = z.strictObject({
  queries: z.array(
    z.strictObject({
      name: z.string(),
      topic: z.string(),
      title: z.string(),
      sql: z.string(),
      /** Null: a table only. */
      chart: questionChart.nullable(),
    }),
  ),
  dictionary: z.array(
    z.strictObject({
      relation: z.string(),
      comment: z.string(),
      columns: z.array(z.strictObject({ name: z.string(), type: z.string(), comment: z.string() })),
    }),
  ),
});

/** `GET /query.json?name=` or `/query.csv`: the answer to a named query, at most 1,000 rows. */
export const queryDocument = z.strictObject({
  name: z.string(),
  columns: z.array(z.strictObject({ name: z.string(), type: z.string() })),
  /** Big integers are text. */
  rows: z.array(z.array(z.union([z.string(), z.number(), z.boolean(), z.null()]))),
  is_cut: z.boolean(),
  sums: sumsDocument,
  ms: z.number(),
});

/** `GET /trace.json?term=`: every stored row with a hash, address or height, and its source. */
export const traceDocument = z.strictObject({
  term: z.string(),
  /** The term's kind; null: none, and `hint` lists the kinds. */
  is: z.enum(['hash', 'address', 'height']).nullable(),
  hint: z.string().nullable(),
  rows: z.array(
    z.strictObject({
      relation: z.string(),
      key: z.string(),
      columns: z.array(
        z.strictObject({
          name: z.string(),
          value: z.string().nullable(),
          /** A value in wei as an exact amount of the chain's own currency; null: not in wei. */
          native: z.string().nullable(),
        }),
      ),
      /** Symbol of that currency; null: not known. */
      native_symbol: z.string().nullable(),
      page: z
        .strictObject({
          id: count,
          walk_id: count,
          feed: z.string(),
          sequence: count,
          fetched_at: isoTime,
          cursor: z.string().nullable(),
          /** The archived body; null: the archive is off, or the body was pruned. */
          body: z.string().nullable(),
        })
        .nullable(),
      /** Later changes of the row, newest first. */
      changes: z.array(z.strictObject({ at: isoTime, sentence: z.string() })),
    }),
  ),
});

export type StripsDocument = z.infer<typeof stripsDocument>;
export type CoverageDocument = z.infer<typeof coverageDocument>;
export type ThroughputDocument = z.infer<typeof throughputDocument>;
export type RunsDocument = z.infer<typeof runsDocument>;
export type QueriesDocument = z.infer<typeof queriesDocument>;
export type QueryDocument = z.infer<typeof queryDocument>;
export type TraceDocument = z.infer<typeof traceDocument>;
