import { expect, test } from 'vitest';
import { database as databaseSection } from '../../src/config/schema.ts';
import { freePort } from '../harness/ports.ts';
import { eventually } from '../harness/process.ts';
import { listed, openDeployments } from '../integration/feeds/scene.ts';

const { connections } = databaseSection.parse({});
/** More lists than slices that run at once. */
const ids = Array.from({ length: 6 }, (_, index) => index + 1);
const lists = listed(['user-operations', 'factories']);
/** How often sessions are counted while the lists are read and the page is open. */
const looks = 30;

test('a start whose page is open keeps to the connections of its configuration', async () => {
  const { database, deploy } = await openDeployments({ ids, userOperations: 20_000 });
  const { start } = await deploy('open', Object.fromEntries(ids.map((id) => [id, lists] as const)));
  const sessions = async () => {
    const rows = await database.query(
      `select pid, application_name as name from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend'
         and application_name <> 'explorer-etl test'`,
    );
    return rows.map(({ pid, name }) => ({ pid: Number(pid), name: String(name) }));
  };
  const before = new Set((await sessions()).map(({ pid }) => pid));
  const port = await freePort();
  start('--http', `127.0.0.1:${port}`);
  const read = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).then((got) => got.text());
  const counts: Record<string, number>[] = [];
  await eventually('all kinds of connections, many times', async () => {
    const reading = Promise.allSettled(['/status.json', '/throughput.json', '/metrics'].map(read));
    const open = (await sessions()).filter(({ pid }) => !before.has(pid));
    const isServed = (await reading).every(({ status }) => status === 'fulfilled');
    const names = Map.groupBy(open, ({ name }) => name);
    counts.push(Object.fromEntries([...names].map(([name, { length }]) => [name, length])));
    const all = counts.filter((count) => 'explorer-etl page' in count && 'explorer-etl' in count);
    return isServed && all.length >= looks;
  });
  const totals = counts.map((count) => Object.values(count).reduce((sum, each) => sum + each, 0));
  const most = Math.max(...totals);
  expect(most, JSON.stringify(counts[totals.indexOf(most)])).toBeLessThanOrEqual(connections);
});
