import { expect, onTestFinished, test } from 'vitest';
import { installQueues, sliceQueue, startBoss } from '../../../src/jobs/boss.ts';
import { tellOutages } from '../../../src/jobs/outage.ts';
import { createLog } from '../../../src/log.ts';
import { openDatabaseProxy } from '../../support/database-proxy.ts';
import { freshDatabase } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';

/** A log that is kept. */
function keptLog() {
  const lines: string[] = [];
  return { lines, log: createLog('warn', (line) => void lines.push(line)) };
}

/** A busy machine, in ms. */
const boundMs = 40_000;

test('a queue whose database is away says so once, however often it looks', async () => {
  const database = await freshDatabase();
  await installQueues(database.url);
  const proxy = await openDatabaseProxy(database.url);
  onTestFinished(() => proxy.close());
  const { lines, log } = keptLog();
  const now = () => performance.now();
  const boss = await startBoss({ databaseUrl: proxy.url, log, supervise: false, now });
  onTestFinished(() => boss.stop({ graceful: false }));
  let failures = 0;
  boss.on('error', () => void (failures += 1));
  const often = { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 };
  await boss.work(sliceQueue, often, async () => undefined);

  proxy.set('refuse');
  proxy.cutAll();

  await eventually('many failures', boundMs, async () => failures > 12);
  const told = lines.filter((line) => line.includes('queue.failure'));
  expect(told.length).toBeGreaterThan(0);
  expect(new Set(told.map((line) => line.slice(line.indexOf('WARN')))).size).toBe(told.length);
  expect(told.length).toBeLessThan(6);
  proxy.set('open');
});

test('what fails again after a minute without failures is told again', () => {
  const { lines, log } = keptLog();
  let nowMs = 0;
  const tell = tellOutages(log, 'queue.failure', () => nowMs);
  const away = new Error('timeout expired');

  for (let at = 0; at < 600; at += 1) {
    nowMs += 2_000;
    tell(away);
  }
  expect(lines).toHaveLength(1);
  nowMs += 61_000;
  tell(away);

  expect(lines).toHaveLength(2);
});
