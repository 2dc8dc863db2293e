import { expect, test } from 'vitest';
import { configuredFeeds, configuredLanes, registerFeeds } from '../../../src/sync/feeds.ts';
import { currentRun, endWalk, takeWalk } from '../../../src/sync/runs.ts';
import { freshDatabase } from '../../harness/database.ts';
import { plainChain, settingsFor } from '../../harness/sync.ts';
import { openRun } from '../../harness/runs.ts';

const url = 'http://localhost';
const why = { failure: 'rejected', reason: 'refused' } as const;

/** A walk that one worker took, and then another one. */
async function takenTwice() {
  const { pool, query, db } = await freshDatabase();
  const { chains } = settingsFor({ url, chains: [plainChain], operations: ['user-operations'] });
  await registerFeeds(db, configuredFeeds(chains), 'file', { origin: url, isSameData: true });
  const target = configuredLanes(chains).find(({ lane }) => lane.lane === 'backfill');
  if (target === undefined) throw new Error('no backfill lane');
  await openRun(db, target.lane, target.scope);
  const run = await currentRun(db, target.lane);
  if (run === null) throw new Error('no run');
  const take = async () => {
    const walk = await takeWalk(db, run, { held: [], at: new Date(), origin: url });
    if (walk === null || typeof walk === 'string') throw new Error('no walk');
    return walk;
  };
  const [stale, held] = [await take(), await take()];
  expect(held.id).toBe(stale.id);
  const states = async () => (await query('select state from etl.walks')).map(({ state }) => state);
  return { db, pool, stale, held, states };
}

test.each([
  ['ends no walk', '{}', undefined],
  [
    'does not abandon the synthetic cursor of the other worker',
    '{"entry": {"height": 1, "key": "0x"}}',
    'entering',
  ],
] as const)('a worker whose walk was taken over %s', async (_, scope, which) => {
  const { db, pool, stale, held, states } = await takenTwice();
  await pool.query(`update etl.walks set scope = '${scope}'`);

  expect(await endWalk(db, stale, 'abandoned', why, which)).toBe(false);
  expect(await states()).toEqual(['running']);

  expect(await endWalk(db, held, 'abandoned', why, which)).toBe(true);
  expect(await states()).toEqual(['abandoned']);
});
