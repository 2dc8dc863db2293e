import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fullBatch, pageSize } from '../../harness/batch-world.ts';
import { keepLists, range } from '../../harness/kept.ts';
import { openProgram } from './program.ts';

/** The newest number, of a numbering that began long ago. */
const newest = 400_012;
const lowest = 400_001;

/** An explorer whose numbers are high, and a folder whose file says which of them are wanted. */
async function world(batches?: object) {
  const list = await keepLists();
  for (const number of range(lowest, newest)) list.batches.set(number, fullBatch(number - lowest));
  const operations = batches === undefined ? {} : { 'optimism-batch-blocks': batches };
  const program = await openProgram({
    url: list.url,
    explorer: { page_size: pageSize },
    ...(batches !== undefined && { operations }),
  });
  const want = (wanted: object) =>
    writeFile(
      join(program.cwd ?? '', 'explorer-etl.yaml'),
      JSON.stringify({
        explorer: { requests_per_second: 1000, page_size: pageSize },
        chains: [{ id: 10, operations: { 'optimism-batch-blocks': wanted } }],
      }),
    );
  return { ...program, list, want };
}

const requested = 'select target_numbers::text from etl.feeds';

test('batches that the file no longer names are no gap, and their rows stay', async () => {
  const { want, run, query } = await world({ from_batch: 400_006 });
  expect((await run('sync')).code).toBe(0);
  // As if numbers had been requested, and a few read, before the command was stopped.
  await query(`update etl.feeds set target_numbers = target_numbers + '{[1,)}'::int8multirange`);
  expect((await run('verify')).stdout).toContain('batches 1 to 400,005: not downloaded');

  const refused = await run('repair', '--yes');
  expect(refused).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing to do') });
  expect((await run('verify')).code).toBe(0);
  expect(await query(requested)).toEqual([{ target_numbers: '{[400006,)}' }]);

  await want({ from_batch: 400_009 });
  expect((await run('sync')).code).toBe(0);
  expect(await query(requested)).toEqual([{ target_numbers: '{[400006,)}' }]);
  expect((await run('verify')).code).toBe(0);
});

test('a repair of many requests states its cost, and does nothing until it is confirmed', async () => {
  const { list, want, run } = await world({ from_batch: 400_006 });
  expect((await run('sync')).code).toBe(0);
  await want({ from_batch: 1 });
  list.takeRequests();

  const refused = await run('repair');

  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(
    /this repair takes about 1,\d{3},\d{3} requests, 2\d,\d{3},\d{3} credits.*--yes/,
  );
  expect(list.takeRequests()).toEqual([]);

  await want({ from_batch: 400_001 });
  expect((await run('repair')).code).toBe(0);
  expect(new Set(list.takeRequests().map(({ batch }) => batch))).toEqual(
    new Set([400_001, 400_002, 400_003, 400_004, 400_005]),
  );
  expect((await run('verify')).code).toBe(0);
});

test('without a file, the last command sets the target, and rows stay', async () => {
  const { run, query } = await world();
  const flags = ['--chain', '10', '--operation', 'optimism-batch-blocks'];
  const sync = (from: number, to: number) =>
    run('sync', ...flags, '--from-batch', String(from), '--to-batch', String(to));

  expect(await sync(400_001, 400_004)).toMatchObject({ code: 0 });
  expect(await sync(400_005, 400_008)).toMatchObject({ code: 0 });

  expect(await query(requested)).toEqual([{ target_numbers: '{[400001,400009)}' }]);
  expect((await run('verify')).stdout).toContain('batches 400,001 to 400,007, as of');
});
