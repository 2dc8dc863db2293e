import { expect, test } from 'vitest';
import { recountCoverage } from '../../../src/status/verify.ts';
import { ledgerFaults } from '../../harness/ledger.ts';
import { openCopied, plainChain } from '../../harness/sync.ts';

const chain = { ...plainChain, userOperations: 300 };

async function world(read: 'two pages' | 'all' = 'all') {
  const run = { operations: ['user-operations'] };
  const { database, query, open, sync } = await openCopied(chain, { run }, { maxPages: 2 });
  if (read === 'all') await sync();
  const kept = () =>
    query(`
      select lane, pages::int, inserted::int, credits::int, verified::text
      from etl.coverage order by lane
    `);
  const counted = () =>
    query(`
      select lane, count(*)::int as pages, sum(pages.inserted)::int as inserted,
             sum(pages.credits)::int as credits,
             (select range_agg(verified) from etl.walks as own where own.lane = walks.lane)::text as verified
      from etl.walks join etl.pages on walk_id = walks.id
      group by lane order by lane
    `);
  return { database, query, sync, kept, counted, open };
}

test.each([
  ['a range more', `update etl.coverage set verified = '{[0,1000000000)}'`],
  [
    'a range less',
    `update etl.coverage set verified = verified - int8multirange(int8range(0, 1000))`,
  ],
  ['a sum', `update etl.coverage set credits = credits + 1`],
  [
    'a row of a lane that never read',
    `insert into etl.coverage (feed, lane) select feed, 'other' from etl.feeds`,
  ],
])(
  'coverage of a lane is that of its walks, and their sums: %s is open, and a repair recounts it',
  async (_, change) => {
    const { database, query, kept, counted, open } = await world();
    expect(await kept()).toEqual(await counted());
    expect(await open()).toEqual([]);

    await query(change);

    expect(await open()).toContain('stored totals differ from the walks');
    await recountCoverage(database.db);
    expect(await open()).toEqual([]);
    expect(await kept()).toEqual(await counted());
  },
);

test('a walk that is deleted leaves a difference, and a repair makes it a gap', async () => {
  const { database, query, open } = await world();
  const lost = `(select max(id) from etl.walks where lane = 'backfill')`;

  await query(
    `delete from etl.pages where walk_id = ${lost}; delete from etl.walks where id = ${lost}`,
  );

  expect(await open()).toContain('stored totals differ from the walks');
  await recountCoverage(database.db);
  expect(await open()).toEqual([expect.stringMatching(/: not downloaded/u)]);
});

test('a page that was deleted from the ledger is open', async () => {
  const { query, open } = await world();

  await query('delete from etl.pages where id = (select max(id) from etl.pages)');

  expect(await open()).toContain('stored totals differ from the walks');
});

test('a commit that is cut at its last statement leaves neither rows, nor ledger, nor coverage, nor checkpoint', async () => {
  const { database, query, sync } = await world('two pages');
  const stored = async () => ({
    rows: await query('select count(*), max(page_id) from explorer.user_operations'),
    ledger: await query('select count(*), max(id) from etl.pages'),
    coverage: await query('select lane, verified, pages, inserted from etl.coverage order by lane'),
    checkpoint: await query(
      'select id, cursor, pages, verified from etl.walks where pages > 0 order by id',
    ),
  });
  const before = await stored();
  await query(`
    create function public.cut() returns trigger language plpgsql as $$
    begin raise 'cut'; end $$;
    create trigger cut before insert or update on etl.coverage for each row execute function public.cut()
  `);

  const { results: cut } = await sync();

  expect(cut.map(({ state }) => state)).toContain('interrupted');

  expect(await stored()).toEqual(before);
  await query('drop trigger cut on etl.coverage');
  await sync();
  expect(await ledgerFaults(database.pool, 'under-way')).toEqual({});
  expect((await stored()).coverage).not.toEqual(before.coverage);
});
