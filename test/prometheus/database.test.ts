import { test } from 'vitest';
import { openAlertWorld } from './world.ts';

test('alerts fire for an unreachable database, and for a process that has ended', async () => {
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
