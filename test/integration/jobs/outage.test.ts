import { expect, onTestFinished, test } from 'vitest';
import { createLog } from '../../../src/log.ts';
import { installQueues, sliceQueue, startBoss } from '../../../src/sync/queue.ts';
import { freshDatabase } from '../../harness/database.ts';
import { eventually } from '../../harness/process.ts';
import { openDatabaseProxy } from '../../harness/servers.ts';

test('the queue logs an unreachable database once, however often it polls', async () => {
  const database = await freshDatabase();
  await installQueues(database);
  const proxy = await openDatabaseProxy(database.url);
  const lines: string[] = [];
  const log = createLog('warn', (line) => void lines.push(line));
  const boss = await startBoss({ url: proxy.url, log });
  onTestFinished(() => boss.stop({ graceful: false }));
  let failures = 0;
  boss.on('error', () => void (failures += 1));
  const often = { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 };
  await boss.work(sliceQueue, often, async () => undefined);

  proxy.set('refuse');
  proxy.cutAll();

  await eventually('many failures', async () => failures > 12);
  const logged = lines.filter((line) => line.includes('queue.failure'));
  expect(logged.length).toBeGreaterThan(0);
  expect(new Set(logged.map((line) => line.slice(line.indexOf('WARN')))).size).toBe(logged.length);
  expect(logged.length).toBeLessThan(6);
  proxy.set('open');
});

test('a queue that fails while it starts leaves no session', async () => {
  const database = await freshDatabase();
  const { url, query } = database;
  await installQueues(database);
  await query('drop table pgboss.version');
  const log = createLog('silent', () => undefined);

  const started = startBoss({ url, log });

  await expect(started).rejects.toThrow(/not installed/u);
  await eventually('no session', async () => {
    const rows = await query(`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'explorer-etl jobs'`);
    return rows.length === 0;
  });
});
