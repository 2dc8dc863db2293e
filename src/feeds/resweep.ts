import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import type { Feed } from './feed.ts';

/** A deeper walk for late arrivals: how deep below the covered top, and how often, in ms. */
interface ResweepRule {
  readonly depthMs: number;
  readonly everyMs: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * Each rule costs depth / interval of the list's own page rate: 1/4 + 1/8 + 1/8, half as many
 * requests again. The service indexes recent blocks out of order for seconds, retries failed ones
 * for minutes, and back-fills up to days after a restart (explorer-api.md).
 */
const resweepRules: readonly ResweepRule[] = [
  { depthMs: 5 * minuteMs, everyMs: 20 * minuteMs },
  { depthMs: hourMs, everyMs: 8 * hourMs },
  { depthMs: dayMs, everyMs: 8 * dayMs },
];

/**
 * How deep the live walk that begins at `at` has to go, in ms: the deepest rule whose interval has
 * passed since a walk went as deep, or since the feed's first walk.
 */
export async function dueDepthMs(
  tx: Transaction,
  feed: Feed,
  overlapMs: number,
  at: Date,
): Promise<number> {
  const { rows } = await tx.execute<{ depth_ms: number }>(sql`
    select coalesce(max(rule.depth_ms), 0)::float8 as depth_ms
    from json_to_recordset(${JSON.stringify(
      resweepRules.map((rule) => ({ depth_ms: rule.depthMs, every_ms: rule.everyMs })),
    )}::json) as rule(depth_ms bigint, every_ms bigint)
    where (
      select coalesce(max(started_at) filter (where walk.depth_ms >= rule.depth_ms), min(started_at))
      from etl.walks as walk
      where chain_id = ${feed.chain_id} and operation = ${feed.operation}
    ) <= ${at.toISOString()}::timestamptz - make_interval(secs => rule.every_ms / 1000)
  `);
  return Math.max(overlapMs, rows[0]?.depth_ms ?? 0);
}
