import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { SimulatedChain } from '../../simulator/index.ts';
import type { Engine } from '../../src/app.ts';
import type { FeedLane } from '../../src/lists/feed.ts';
import type { RunRow } from '../../src/lists/tables.ts';
import { advance } from '../../src/sync/advance.ts';
import { takeWalk } from '../../src/sync/runs.ts';
import { freshDatabase, untilLocked } from '../harness/database.ts';
import { simulated } from '../harness/explorer.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { beginRun, claim, openContender, pageBudget, walkOn } from '../harness/runner.ts';
import { plainChain } from '../harness/sync.ts';
import { differences } from '../harness/tables.ts';

const seed = 11;
const chain: SimulatedChain = {
  ...plainChain,
  family: 'arbitrum',
  userOperations: 260,
  batches: { first: 1, count: 8, blocks: 60 },
  factories: 20,
  oddities: ['duplicates-across-pages', 'missing-hash'],
};
const lists = ['user-operations', 'optimism-batch-blocks'] as const;

/** More than a walk of this chain has. */
const allPages = 1000;

const lane = (operation: FeedLane['operation']): FeedLane => ({
  chain_id: chain.id,
  operation,
  lane: 'backfill',
});

/** Two workers, as of two processes, on one database. */
async function openScene() {
  const simulator = await simulated({ seed, chains: [chain], latencyMs: 3 });
  const database = await freshDatabase();
  const run = { url: simulator.url, chains: [chain], pageSize: 10 };
  const first = await openContender(database, run);
  const second = await openContender(database, run);
  return { database, first, second };
}

const firstBatch = { from_batch: 1, to_batch: 1 };
const scopeOf = { 'user-operations': {}, 'optimism-batch-blocks': firstBatch };

async function mustClaim(engine: Engine, run: RunRow) {
  const walk = await claim(engine, run);
  if (walk === null) throw new Error('no walk to claim');
  return walk;
}

test('a worker whose walk was taken over is fenced and writes nothing', async () => {
  const { database, first, second } = await openScene();
  const run = await beginRun(first, lane('user-operations'), {});
  const stale = await mustClaim(first, run);
  const fresh = await mustClaim(second, run);

  const outcome = await walkOn(first, stale, allPages);

  expect(outcome).toEqual({ is: 'fenced' });
  const rows = await database.query(`
    select (select revision::int from etl.walks) as revision,
           (select count(*)::int from etl.pages) as pages,
           (select count(*)::int from etl.quarantine) as quarantined,
           (select count(*)::int from explorer.user_operations) as operations,
           (select count(*)::int from explorer.addresses) as addresses
  `);
  const { revision } = fresh;
  expect(rows).toEqual([{ revision, pages: 0, quarantined: 0, operations: 0, addresses: 0 }]);
});

test('a worker whose walk is taken over midway is fenced, and the other worker ends the walk', async () => {
  const { database, first, second } = await openScene();
  const run = await beginRun(first, lane('user-operations'), {});
  const stale = await mustClaim(first, run);
  const slow = walkOn(first, stale, allPages);
  const fresh = await mustClaim(second, run);

  expect(await walkOn(second, fresh, allPages)).toEqual({ is: 'ended', end: { is: 'end' } });

  expect(await slow).toEqual({ is: 'fenced' });
  expect(
    await differences(database.pool, seed, chain, { operations: ['user-operations'] }),
  ).toEqual({});
  expect(await ledgerFaults(database.pool, 'under-way')).toEqual({});
});

test('two workers that begin a walk at the same moment claim the same one', async () => {
  const { database, first, second } = await openScene();
  const run = await beginRun(first, lane('user-operations'), {});
  const gate = await database.pool.connect();
  onTestFinished(() => gate.release(true));
  await gate.query('begin');
  await gate.query('select from etl.runs for update');
  const claims = Promise.all([mustClaim(first, run), mustClaim(second, run)]);
  await untilLocked(database.pool, 2);

  await gate.query('commit');

  const [one, other] = await claims;
  expect(one.id).toBe(other.id);
});

/** How many pages each claim of a worker goes on for, and how long it waits before, in ms. */
const turns = fc.array(fc.record({ pages: fc.integer({ min: 1, max: 12 }), delayMs: fc.nat(30) }), {
  minLength: 1,
  maxLength: 6,
});

test('workers that keep taking a walk from each other store the same rows as one worker', async () => {
  const contention = fc.record({ operation: fc.constantFrom(...lists), a: turns, b: turns });
  await fc.assert(
    fc.asyncProperty(contention, async ({ operation, a, b }) => {
      const { database, first, second } = await openScene();
      const run = await beginRun(first, lane(operation), scopeOf[operation]);
      const contend = async (engine: Engine, own: typeof a) => {
        for (const { pages, delayMs } of own) {
          await delay(delayMs);
          const walk = await claim(engine, run);
          if (walk !== null) await walkOn(engine, walk, pages);
        }
      };
      await Promise.all([contend(first, a), contend(second, b)]);
      const last = await claim(second, run);
      if (last !== null) await walkOn(second, last, allPages);

      const scope = { operations: [operation], batches: { from: 1, to: 1 } };
      expect(await differences(database.pool, seed, chain, scope)).toEqual({});
      expect(await ledgerFaults(database.pool, 'under-way')).toEqual({});
    }),
    { numRuns: 10 },
  );
});

test("the walkers of one slice never take each other's walks when they resume", async () => {
  const { database, first } = await openScene();
  const batches = lane('optimism-batch-blocks');
  const run = await beginRun(first, batches, { from_batch: 1, to_batch: 8 });
  const begun: number[] = [];
  for (let count = 0; count < 8; count += 1) {
    const walk = await takeWalk(first.db, run, {
      held: begun,
      at: new Date(),
      origin: first.origin,
    });
    if (typeof walk === 'object' && walk !== null) begun.push(walk.id);
  }

  const signal = new AbortController().signal;
  const onCommit = () => undefined;
  const outcome = await advance(batches, pageBudget(allPages), { ...first, onCommit }, signal);

  expect(outcome).toMatchObject({ is: 'closed', failures: [] });
  expect(await ledgerFaults(database.pool, 'ended')).toEqual({});
});
