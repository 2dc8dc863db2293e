import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { openInWords } from '../../harness/findings.ts';
import { countTotalsAgain } from '../../../src/status/totals.ts';
import { startSimulator } from '../../../simulator/index.ts';
import { freshDatabase } from '../../harness/database.ts';
import { listedChain, runSync } from '../../harness/sync.ts';

const chain = { ...listedChain, userOperations: 300 };

async function world() {
  const simulator = await startSimulator({ seed: 3, chains: [chain] });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const run = { url: simulator.url, chains: [chain], operations: ['user-operations'] };
  await runSync(database, { ...run, maxPages: 2 });
  await runSync(database, run);
  const query = async (statement: string) => (await database.pool.query(statement)).rows;
  const kept = () => query(`${totals} from etl.lane_totals order by lane`);
  const counted = () =>
    query(`
      select lane, sum(pages)::int as pages, sum(inserted)::int as inserted,
             (select sum(pages.credits) from etl.pages join etl.walks as own on own.id = walk_id where own.lane = walks.lane)::int
               as credits,
             range_agg(proved)::text as proved
      from etl.walks where state <> 'running'
      group by lane order by lane
    `);
  const open = async () => openInWords(await verifyFeeds(drizzle(database.pool)));
  return { database, query, kept, counted, open };
}

const totals = `select lane, pages::int as pages, inserted::int as inserted, credits::int as credits, proved::text as proved`;

test('the totals of a lane are the sums of its walks', async () => {
  const { kept, counted } = await world();

  expect(await kept()).not.toEqual([]);
  expect(await kept()).toEqual(await counted());
});

test('a walk that is deleted or loses its proof takes it out of the totals', async () => {
  const { query, kept, counted, open } = await world();

  await query(
    `update etl.walks set proved = '{}', pages = pages + 1, credits = credits + 20 where lane = 'live'`,
  );
  await query(
    `delete from etl.pages where walk_id = (select max(id) from etl.walks where lane = 'backfill')`,
  );
  await query(
    `delete from etl.walks where id = (select max(id) from etl.walks where lane = 'backfill')`,
  );

  const [backfill] = await counted();
  expect((await kept())[0]).toEqual(backfill);
  expect(await open()).toEqual([expect.stringMatching(/: not downloaded/u)]);
});

test.each([
  ['a proof', `update etl.lane_totals set proved = '{[0,1000000000)}'`],
  ['a sum', `update etl.lane_totals set credits = credits + 1`],
  ['a row that is gone', `delete from etl.lane_totals where lane = 'backfill'`],
])(
  'totals that somebody changed are open, and counted again by a repair: %s',
  async (_, change) => {
    const { database, query, kept, counted, open } = await world();
    expect(await open()).toEqual([]);

    await query(change);

    expect(await open()).toContain('stored totals differ from the walks');
    await countTotalsAgain(drizzle(database.pool));
    expect(await open()).toEqual([]);
    expect(await kept()).toEqual(await counted());
  },
);
