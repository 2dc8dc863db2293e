import { expect, test } from 'vitest';
import { migrateInProcess, release } from './release.ts';
import { best, first, firstRelease, namesOf, stock } from './view-release.ts';

test('of two concurrent migrates, one creates the views', async () => {
  const { pool, url, folder } = await firstRelease();
  await release(
    folder,
    { 1: stock },
    { ...first, 'etl/best': best.replace('name from', '2 as n, name from') },
  );
  const both = [migrateInProcess(url, folder), migrateInProcess(url, folder)];
  const results = await Promise.all(both.map(({ migrated }) => migrated));
  expect(results).toContainEqual({ applied: 0, views: 3 });
  expect(results).toContainEqual({ applied: 0, views: 0 });
  expect(await namesOf(pool, 'etl.best')).toEqual(['b']);
});
