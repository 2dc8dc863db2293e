import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Database, transact } from '../../../src/db/transaction.ts';
import { kindOf } from '../../../src/lists/index.ts';
import type { ItemRows, WalkEndContext } from '../../../src/lists/operation.ts';
import { freshDatabase } from '../../harness/database.ts';
import { type ModelPage, RankingModel } from './model.ts';

const times = 40;
/** Few of each, so that counts tie and factories are met again. */
const addresses = ['0xa', '0xb', '0xc', '0xd', '0xe'];

const observation = fc.record({
  address: fc.constantFrom(...addresses),
  accounts: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 1, max: 3 }) },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
});
const page = fc.uniqueArray(observation, { selector: ({ address }) => address, maxLength: 4 });

/** A list that stood still, in pages; some services show a page's last one again on the next. */
const stillWalk = fc
  .record({
    list: fc.uniqueArray(
      fc.record({
        address: fc.constantFrom(...addresses),
        accounts: fc.integer({ min: 1, max: 3 }),
      }),
      { selector: ({ address }) => address, maxLength: addresses.length },
    ),
    size: fc.integer({ min: 1, max: 3 }),
    repeats: fc.boolean(),
  })
  .map(({ list, size, repeats }) => {
    const sorted = list.toSorted(
      (a, b) => b.accounts - a.accounts || (a.address < b.address ? 1 : -1),
    );
    return Array.from({ length: Math.ceil(sorted.length / size) }, (_, index) =>
      sorted.slice(Math.max(0, index * size - (repeats ? 1 : 0)), (index + 1) * size),
    );
  });
/** A list in order in which a factory that moved down is met again, with fewer accounts or as many. */
const sinkingWalk = fc
  .record({
    observations: fc.array(observation, { maxLength: 8 }),
    size: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ observations, size }) => {
    const sorted = observations.toSorted((a, b) => (b.accounts ?? 0) - (a.accounts ?? 0));
    return Array.from({ length: Math.ceil(sorted.length / size) }, (_, index) => [
      ...new Map(
        sorted.slice(index * size, (index + 1) * size).map((met) => [met.address, met]),
      ).values(),
    ]);
  });
const walk = fc.oneof(
  { weight: 3, arbitrary: stillWalk },
  { weight: 2, arbitrary: sinkingWalk },
  { weight: 1, arbitrary: fc.array(page, { maxLength: 4 }) },
);
/** Three walks at most, and one that fails before the one of a place. */
const drawnRun = fc.record({
  walks: fc.array(walk, { minLength: 3, maxLength: 3 }),
  failed: fc.record({
    at: fc.integer({ min: 0, max: 5 }),
    pages: fc.array(page, { maxLength: 2 }),
  }),
});
const runs = fc.array(drawnRun, { minLength: 1, maxLength: 3 });

test('whatever pages the walks of a run met, the ranking is that of a plain model', async () => {
  const { query, db } = await freshDatabase();
  let chain = 0;
  await fc.assert(
    fc.asyncProperty(runs, async (sequence) => {
      chain += 1;
      await query(
        `insert into etl.feeds (chain_id, operation, kind, settings)
         values ($1, 'factories', 'ranked', '{}')`,
        [chain],
      );
      const model = new RankingModel();
      for (const [number, { walks, failed }] of sequence.entries()) {
        const of = { chain, run: chain * 10 + number };
        model.beginRun();
        let isPublished = false;
        for (const [at, pages] of walks.entries()) {
          if (at === failed.at) {
            await walkOnce(db, of, failed.pages, 'failed');
            model.failedWalk(failed.pages);
          }
          const said = await walkOnce(db, of, pages);
          expect(said).toBe(model.walk(pages));
          expect(await stored(db, chain)).toEqual(model.published());
          isPublished = said === null;
          if (isPublished) break;
        }
        // What a walk that failed met stays until the next ranking.
        expect(isPublished ? await entriesOf(db, chain) : 0).toBe(0);
      }
    }),
    { numRuns: times },
  );
});

/** Makes a walk of its pages as the walker does: each page's rows, then what the operation says unless it failed. */
async function walkOnce(
  db: Database,
  { chain, run }: { readonly chain: number; readonly run: number },
  pages: readonly ModelPage[],
  state: 'finished' | 'failed' = 'finished',
): Promise<string | null> {
  return transact(db, async (tx) => {
    const { rows: begun } = await tx.execute<{ id: string }>(`
      insert into etl.walks (chain_id, operation, lane, run_id, kind, scope)
      values (${chain}, 'factories', 'backfill', ${run}, 'ranked', '{}')
      returning id`);
    const id = Number(begun[0]?.id);
    const context: WalkEndContext = {
      walk_id: id,
      run_id: run,
      chain_id: chain,
      feed: `${chain}/factories`,
      as_of: new Date(0).toISOString(),
      scope: {},
      floor: null,
      page_id: id,
      isConclusive: true,
      cursor: null,
      previousLast: null,
      readDownTo: 0,
      isUnbroken: true,
    };
    let position = 0;
    for (const items of pages) {
      const rows = items.map(({ address, accounts }) => itemOf(address, accounts, position++));
      for (const { address, accounts } of items) {
        await tx.execute(`
          insert into explorer.factories (chain_id, address_hash, total_accounts, page_id)
          values (${chain}, '${address}', ${accounts}, ${id})
          on conflict (chain_id, address_hash) do update
          set total_accounts = excluded.total_accounts`);
      }
      await kindOf('factories').writePages(
        tx,
        [{ walk: context, rows, isTopRead: true }],
        async () => new Map(),
      );
    }
    const isWhole = state === 'finished';
    const said = isWhole ? await kindOf('factories').afterWalk(tx, context) : null;
    const failure = isWhole ? 'null' : `'truncated'`;
    await tx.execute(
      `update etl.walks set state = '${state}', failure = ${failure} where id = ${id}`,
    );
    return said;
  });
}

const itemOf = (address_hash: string, total_accounts: number | null, position: number) =>
  ({
    key: address_hash,
    row: { address_hash, total_accounts },
    children: [],
    addresses: [],
    missing: null,
    position,
    height: null,
  }) satisfies ItemRows;

async function stored(db: Database, chain: number) {
  const { rows } = await db.execute<{ factory: object }>(`
    select json_build_object(
      'address', address_hash,
      'rank', rank,
      'isMissing', missing_since is not null,
      'history', array(
        select history.total_accounts
        from explorer.factory_history as history
        where history.chain_id = factories.chain_id
          and history.address_hash = factories.address_hash
        order by observed_at
      )
    ) as factory
    from explorer.factories
    where chain_id = ${chain}
    order by address_hash
  `);
  return rows.map(({ factory }) => factory);
}

async function entriesOf(db: Database, chain: number): Promise<number> {
  const { rows } = await db.execute<{ entries: number }>(`
    select count(*)::int as entries
    from etl.ranking_entries join etl.walks on walks.id = walk_id
    where chain_id = ${chain}`);
  return rows[0]?.entries ?? 0;
}
