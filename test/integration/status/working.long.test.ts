import { expect, test } from 'vitest';
import { configFolder, eventually, startProgram } from '../../harness/process.ts';
import { scene, statesOf } from './reports.ts';

/** A chain whose user operations take a while. */
const long = { userOperations: 20_000, batches: { first: 1, count: 0, blocks: 20 } };

/** A `sync` that reads history. */
async function syncing() {
  const made = await scene(long, 50);
  const chains = [{ id: 10, operations: { 'user-operations': {} } }];
  const program = startProgram(['sync', '--quiet'], {
    databaseUrl: made.database.url,
    explorerUrl: made.simulator.url,
    cwd: await configFolder({ chains }),
  });
  await eventually('a page', async () => {
    const rows = await made.database.query(
      `select coalesce(sum(pages), 0) as pages from etl.walks`,
    );
    return Number(rows[0]?.pages) > 0;
  });
  return { ...made, program };
}

test('a sync is shown as running, and its feed is paused after Ctrl-C', async () => {
  const made = await syncing();
  expect((await made.status()).workers).toEqual({ start: 0, once: 1 });
  expect(await made.codes()).toEqual(['syncing', 'reading']);
  expect(statesOf(await made.status())).toEqual([['user-operations', 'running']]);

  made.program.kill('SIGINT');
  expect(await made.program.ended()).toMatchObject({ code: 130 });

  const { overall } = await made.status();
  expect(statesOf(await made.status())).toEqual([['user-operations', 'paused']]);
  expect(overall).toMatchObject({
    state: 'stopped',
    sentence: 'Paused (Ctrl-C or --for). Progress is saved.',
    command: 'explorer-etl sync',
  });
  expect(overall.since).not.toBeNull();
});

test('after its worker was killed, a feed is behind for lack of a worker', async () => {
  const made = await syncing();
  made.program.kill('SIGKILL');
  await made.program.ended();
  await eventually('the end of its session', async () =>
    (await made.codes()).includes('no-worker'),
  );
  expect(await made.codes()).toEqual(['stopped', 'no-worker']);
  expect(statesOf(await made.status())).toEqual([['user-operations', 'behind']]);
});
