import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Database, transact } from '../../../src/db/transaction.ts';
import { kindOf } from '../../../src/lists/index.ts';
import { freshDatabase } from '../../harness/database.ts';
import { type Requested, heights, Model, numbers, type Walk } from './settle-model.ts';

const hashOf = (height: number, edition: number) =>
  `0x${(height * 10 + edition).toString(16).padStart(64, '0')}`;

const rarely = fc.nat(9).map((drawn) => (drawn === 0 ? 1 : 0));

/** Mostly a run of heights about where the batch belongs, mostly linked. */
const walkOf = fc
  .record({
    beginsRun: fc.constantFrom(false, false, false, true),
    batch: fc.integer({ min: 1, max: numbers }),
    isProbe: fc.boolean(),
    shift: fc.constantFrom(0, 0, 0, 0, -1, 1),
    length: fc.constantFrom(0, 1, 2, 2, 2, 2, 3),
    isPartial: fc.constantFrom(false, false, false, true),
    drawn: fc.array(fc.record({ edition: rarely, parentEdition: rarely, pending: rarely }), {
      minLength: 3,
      maxLength: 3,
    }),
  })
  .map(({ beginsRun, batch, isProbe, shift, length, isPartial, drawn }): Walk => {
    const first = (batch - 1) * 2 + shift;
    const served = drawn.slice(0, length).flatMap(({ pending, ...block }, place) => {
      const height = first + place;
      return height < 0 || height > heights ? [] : [{ ...block, height, isPending: pending === 1 }];
    });
    const readDownTo = isPartial ? (served[0]?.height ?? 0) : 0;
    return { beginsRun, batch, isProbe, served, readDownTo };
  });

const honestBlock = (height: number) => ({
  height,
  edition: 0,
  parentEdition: 0,
  isPending: false,
});

const servedAs = (batch: number, ...served: readonly number[]): Walk => ({
  beginsRun: false,
  batch,
  isProbe: false,
  served: served.map(honestBlock),
  readDownTo: 0,
});

/** All batches as they should be, from the top down and then once more: the lowest needs two reads. */
const honestWalks = [...Array.from({ length: 2 * numbers }).keys()].map((place) => {
  const batch = numbers - (place % numbers);
  return servedAs(batch, (batch - 1) * 2, (batch - 1) * 2 + 1);
});

/** Any walks, after none, some or all of those that settle the batches. */
const walksOf = fc
  .tuple(
    fc.constantFrom(0, 4, numbers, 2 * numbers),
    fc.array(walkOf, { minLength: 1, maxLength: 14 }),
  )
  .map(([honest, others]) => [...honestWalks.slice(0, honest), ...others]);

const apart: readonly Requested[] = [
  { low: 1, end: 3 },
  { low: 4, end: null },
];

const targetRanges = fc.constantFrom<readonly Requested[]>(
  [{ low: 1, end: null }],
  [{ low: 3, end: null }],
  [{ low: 1, end: 5 }],
  apart,
);

/** Where a walk belongs. */
interface Place {
  readonly chain_id: number;
  readonly page_id: number;
  readonly run_id: number;
}

/** Writes what a walk was served, and ends it as the walk does. */
async function endWalk(
  db: Database,
  { chain_id, page_id, run_id }: Place,
  walk: Walk,
): Promise<void> {
  const { batch, isProbe, readDownTo, served } = walk;
  const rows = served.map(({ height, edition, parentEdition, isPending }) => ({
    chain_id,
    height,
    hash: hashOf(height, edition),
    parent_hash: hashOf(height - 1, parentEdition),
    is_pending_update: isPending,
    optimism_batch_number: batch,
    page_id,
  }));
  const multirange = `{${served.map(({ height }) => `[${height},${height}]`).join(',')}}`;
  const scope = { batch, ...(isProbe && { probe: true }) };
  await transact(db, async (tx) => {
    const answer = await tx.execute<{ id: string }>(`
      insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, state)
      values (${chain_id}, 'optimism-batch-blocks', 'backfill', ${run_id}, 'numbered', '${JSON.stringify(scope)}', 'finished')
      returning id`);
    const walk_id = Number(answer.rows[0]?.id);
    await tx.execute(`
      insert into etl.pages (id, walk_id, feed, sequence, items, rows, repeats, quarantined, inserted, changed,
                             heights, bytes, body_hash, attempts, latency_ms, credits, fetched_at)
      values (${page_id}, ${walk_id}, '${chain_id}/optimism-batch-blocks', 0, 0, 0, 0, 0, 0, 0, '${multirange}', 0, '', 1, 0, 20, now())`);
    await tx.execute(`
      insert into explorer.blocks as t (chain_id, height, hash, parent_hash, is_pending_update, optimism_batch_number, page_id)
      select chain_id, height, hash, parent_hash, is_pending_update, optimism_batch_number, page_id
      from json_populate_recordset(null::explorer.blocks, '${JSON.stringify(rows)}')
      on conflict (chain_id, height) do update
      set hash = excluded.hash, parent_hash = excluded.parent_hash, page_id = excluded.page_id,
          is_pending_update = excluded.is_pending_update,
          optimism_batch_number = excluded.optimism_batch_number`);
    await kindOf('optimism-batch-blocks').afterWalk(tx, {
      walk_id,
      run_id,
      chain_id,
      feed: `${chain_id}/optimism-batch-blocks`,
      as_of: new Date(0).toISOString(),
      scope,
      floor: null,
      page_id,
      isConclusive: true,
      cursor: null,
      previousLast: null,
      readDownTo,
      isUnbroken: true,
    });
  });
}

const differing = `
  select from etl.covered_batches as kept join etl.stored_batches as stored using (feed)
  where feed = $1 and (kept.read, kept.verified) <> (stored.read, stored.verified)`;

test('after any walks, the verified batches are those of a plain model', async () => {
  const { query, db } = await freshDatabase();
  let chains = 0;
  let pages = 0;
  const settledSeen = { count: 0 };

  await fc.assert(
    fc.asyncProperty(targetRanges, walksOf, async (requested, walks) => {
      const chain_id = (chains += 1);
      const multirange = `{${requested.map(({ low, end }) => `[${low},${end ?? ''})`).join(',')}}`;
      await query(
        `insert into etl.feeds (chain_id, operation, kind, settings, target_numbers)
           values ($1, 'optimism-batch-blocks', 'numbered', '{}', $2)`,
        [chain_id, multirange],
      );
      const model = new Model(requested);
      let run_id = 1;
      for (const walk of walks) {
        if (walk.beginsRun) run_id += 1;
        await endWalk(db, { chain_id, page_id: (pages += 1), run_id }, walk);
        model.apply(walk, run_id);
        const rows = await query(
          `select batch_number::int as batch,
                    state || case when blocks_count = 0 and is_verified then ', verified' else '' end as is
             from explorer.read_batches where chain_id = $1`,
          [chain_id],
        );
        expect(Object.fromEntries(rows.map(({ batch, is }) => [batch, is]))).toEqual(
          model.states(),
        );
        expect(await query(differing, [`${chain_id}/optimism-batch-blocks`])).toEqual([]);
        settledSeen.count += rows.filter(({ is }) => is === 'settled').length;
      }
    }),
    // Batch 3, which is in no target range and so in no gap, loses its blocks once it is verified.
    { numRuns: 15, examples: [[apart, [...honestWalks, servedAs(4, 4, 5, 6, 7)]]] },
  );

  expect(settledSeen.count).toBeGreaterThan(20);
});

/** A database and a function that ends walks in it, for one feed with a target. */
async function feedOf(target: string) {
  const { query, db } = await freshDatabase();
  await query(
    `insert into etl.feeds (chain_id, operation, kind, settings, target_numbers)
       values (1, 'optimism-batch-blocks', 'numbered', '{}', $1)`,
    [target],
  );
  let pages = 0;
  const end = async (...walks: readonly Walk[]) => {
    for (const walk of walks)
      await endWalk(db, { chain_id: 1, page_id: (pages += 1), run_id: 1 }, walk);
  };
  const verified = async () => {
    expect(await query(differing, ['1/optimism-batch-blocks'])).toEqual([]);
    const rows = await query(
      `select batch_number::int as batch from explorer.read_batches where is_verified order by 1`,
    );
    return rows.map(({ batch }) => batch);
  };
  return { query, end, verified };
}

test('the last number to be read below a lowest batch withdraws what it does not confirm', async () => {
  const { query, end, verified } = await feedOf('{[3,)}');
  await end(...honestWalks.filter(({ batch }) => batch >= 3));
  expect(await verified()).toEqual([3, 4, 5, 6]);

  await query(`update etl.feeds set target_numbers = '{[1,)}'`);
  await end(servedAs(2));
  expect(await verified()).toEqual([3, 4, 5, 6]);
  await end(servedAs(1));
  expect(await verified()).toEqual([4, 5, 6]);
  await end(servedAs(2), servedAs(1));
  expect(await verified()).toEqual([1, 2, 3, 4, 5, 6]);
});

test('an empty number that became unread is verified by the walk that reads it', async () => {
  const { query, end, verified } = await feedOf('{[1,)}');
  await end(servedAs(1), servedAs(2), ...honestWalks.filter(({ batch }) => batch >= 3));
  await end(servedAs(1), servedAs(2));
  expect(await verified()).toEqual([1, 2, 3, 4, 5, 6]);

  await query('delete from explorer.read_batches where batch_number = 2');
  await query(`select etl.recount_batches('%')`);
  await end(servedAs(2));
  expect(await verified()).toEqual([1, 2, 3, 4, 5, 6]);
});
