import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { simulated } from '../../harness/explorer.ts';
import { openRunner, pageBudget } from '../../harness/runner.ts';
import { plainChain } from '../../harness/sync.ts';

const chain = {
  ...plainChain,
  userOperations: 150,
  oddities: ['empty-page-with-cursor'],
} as const;

test('a walk that is resumed behind an empty page covers what it covers in one go', async () => {
  const { url } = await simulated({ seed: 5, chains: [chain] });
  const run = { url, chains: [chain], operations: ['user-operations'], pageSize: 10 };
  const walked = async (pagesASlice: number) => {
    const { query, ...database } = await freshDatabase();
    const runner = await openRunner(database, run);
    await runner.run(runner.lanes, new Date(), 'sync', () => pageBudget(pagesASlice));
    return query(`
      select verified, cuts::int, (select count(*) > 0 from etl.pages where items = 0) as has_empty
      from etl.walks order by id`);
  };

  const [whole, ...others] = await walked(Infinity);

  expect(whole).toMatchObject({ cuts: 0, has_empty: true });
  expect(await walked(1)).toEqual([whole, ...others]);
});
