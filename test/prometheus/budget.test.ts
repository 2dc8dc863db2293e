import { test } from 'vitest';
import { openAlertWorld } from './world.ts';

test('an alert fires if the credits end before midnight', async () => {
  const { setLimits, expectFiring, expectResolved } = await openAlertWorld({
    chain: { userOperations: 100_000 },
    explorer: { requests_per_second: 2 },
  });
  setLimits({ dailyCredits: 16_000 });
  await expectFiring('ExplorerEtlCreditsEndEarly');
  setLimits({});
  await expectResolved('ExplorerEtlCreditsEndEarly');
});

test('an alert fires if the archive exceeds its limit', async () => {
  const { pool, expectFiring, expectResolved } = await openAlertWorld({
    explorer: { archive: 'all' },
  });
  await expectFiring('ExplorerEtlArchiveLarge');
  // Each poll archives more.
  await expectResolved('ExplorerEtlArchiveLarge', () =>
    pool.query('update etl.coverage set archived_bytes = 0'),
  );
});
