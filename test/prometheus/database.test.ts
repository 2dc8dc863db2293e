import { test } from 'vitest';
import { openAlertWorld } from './world.ts';

test('a database that is away, and a process that is gone', async () => {
  const { proxy, server, expectFiring, expectHealthy } = await openAlertWorld();
  await expectHealthy();
  proxy.set('refuse');
  proxy.cutAll();
  await expectFiring('ExplorerEtlDatabaseUnreachable');
  proxy.set('open');
  await expectHealthy();
  server.kill('SIGKILL');
  await expectFiring('ExplorerEtlDown');
});
