import { expect, test } from 'vitest';
import { dueDeepPoll } from '../../../src/lists/newest-first/deep-polls.ts';
import { userOperations } from '../../../src/lists/user-operations/index.ts';
import { recountCoverage } from '../../../src/status/verify.ts';
import { freshDatabase } from '../../harness/database.ts';

const feed = { chain_id: 10, operation: 'user-operations' } as const;
const startMs = Date.UTC(2026, 0, 1);
const hourMs = 3_600_000;
const at = (ms: number) => new Date(startMs + ms).toISOString();

/** More than the live lane reads again by itself: an operation in each block, a block a minute. */
const known = 2_000;

/**
 * A list that was read whole, and a live walk that has come half way down to it, or all of it; an hour before, a deep
 * poll may have begun, which covers all that it read, was cut, or failed.
 */
async function rangeOfDeepPoll(
  live: 'half way' | 'ended',
  before: 'none' | 'whole' | 'cut' | 'failed' | 'abandoned' = 'none',
) {
  const { pool, db } = await freshDatabase();
  await pool.query(
    `insert into etl.feeds (chain_id, operation, kind, settings) values (10, 'user-operations', 'newest-first', '{}')`,
  );
  await pool.query(
    `insert into explorer.user_operations (chain_id, hash, block_number, timestamp, page_id)
     select 10, block::text, block, $1::timestamptz + make_interval(mins => block), 1
     from generate_series(1, $2::int) as block`,
    [at(0), known + 100],
  );
  await pool.query(
    `insert into etl.runs (id, chain_id, operation, lane, scope, state)
     values (1, 10, 'user-operations', 'backfill', '{}', 'finished'),
            (2, 10, 'user-operations', 'live', '{}', $1)`,
    [live === 'ended' ? 'finished' : 'open'],
  );
  const isEnded = live === 'ended';
  await pool.query(
    `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, state, reason, floor, top, bottom, verified, started_at)
     values (10, 'user-operations', 'backfill', 1, 'newest-first', '{}', 'finished', null, null, $1, 1, int8multirange(int8range(0, $1)), $2),
            (10, 'user-operations', 'live', 2, 'newest-first', '{}', $3, $4, $1 - 10, $1 + 100, $5,
             int8multirange(int8range($5::bigint + 1, $1 + 100)), $6)`,
    [
      known,
      at(0),
      isEnded ? 'finished' : 'running',
      isEnded ? 'floor' : null,
      isEnded ? known - 12 : known + 50,
      at(5 * hourMs),
    ],
  );
  if (before !== 'none') {
    await pool.query(
      `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, state, cuts, depth_ms, started_at)
       values (10, 'user-operations', 'backfill', 1, 'newest-first', '{}', $1, $2, $3, $4)`,
      [
        before === 'failed' || before === 'abandoned' ? before : 'finished',
        before === 'cut' ? 1 : 0,
        24 * hourMs,
        at(4 * hourMs),
      ],
    );
  }
  await recountCoverage(db);
  const rules = [{ depthMs: 24 * hourMs, everyMs: 4 * hourMs }];
  return dueDeepPoll(userOperations, db, feed, rules, new Date(startMs + 5 * hourMs));
}

test('a deep poll that is due reads to its depth although a live walk is running', async () => {
  const ended = await rangeOfDeepPoll('ended');
  expect(ended?.floor).toBeLessThan(known);

  expect(await rangeOfDeepPoll('half way')).toEqual(ended);
});

test('a deep poll that was cut is due a tenth of its interval later, another one is not', async () => {
  expect(await rangeOfDeepPoll('ended', 'whole')).toBeNull();
  expect(await rangeOfDeepPoll('ended', 'cut')).not.toBeNull();
});

test.each(['failed', 'abandoned'] as const)(
  'a deep poll that is %s is due a tenth of its interval later',
  async (state) => {
    expect(await rangeOfDeepPoll('ended', state)).not.toBeNull();
  },
);
