import { expect, test } from 'vitest';
import { statusFaults } from '../../../simulator/index.ts';
import { eventually } from '../../harness/process.ts';
import { openScene } from './host-scene.ts';

test('a list that fails alone stops no other; once the explorer returns from an outage, it does not wait its own time', async () => {
  const scene = await openScene();
  const { query } = scene;
  scene.slowDown();
  scene.strike((feed) => (feed === '10/user-operations' ? statusFaults['503'] : null));
  const pages = async () => (await query('select from etl.pages')).length;
  await eventually('it to fail', async () => {
    const rows = await query(`select from etl.feeds where failure = 'unreachable'`);
    return rows.length === 1;
  });
  const before = await pages();
  await eventually('pages of the others', async () => (await pages()) > before + 3);
  expect(await query('select from etl.hosts')).toEqual([]);

  await scene.close();
  await eventually('the outage', async () => (await query('select from etl.hosts')).length === 1);
  await query(
    `update etl.lanes set due_at = now() + interval '1 hour' where feed = '10/user-operations' and worker is null`,
  );
  await query(
    `update pgboss.job set start_after = now() + interval '1 hour' where name = 'slices' and state in ('created', 'retry') and singleton_key like '10/user-operations/%'`,
  );
  scene.strike(null);
  await scene.reopen();

  await scene.untilCopied();
});
