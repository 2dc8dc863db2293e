import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { batchBlocks } from '../../harness/batch-world.ts';
import { call } from '../../harness/call.ts';
import { freshDatabase } from '../../harness/database.ts';
import { blocksOf, listBatches } from '../../harness/listed-batches.ts';
import { configFolder } from '../../harness/process.ts';
import { testKey } from '../../harness/sync.ts';

/** The newest number, of a numbering that began long ago. */
const newest = 400_012;
const lowest = 400_001;

/** Programs of their own, on a machine that may be busy. */
const slow = { timeout: 180_000 };

/** An explorer whose numbers are high, and a folder whose file says which of them are wanted. */
async function world() {
  const list = await listBatches();
  for (let number = lowest; number <= newest; number += 1) {
    const place = number - lowest;
    list.batches.set(number, blocksOf(1000 + place * batchBlocks, 999 + (place + 1) * batchBlocks));
  }
  const database = await freshDatabase();
  const cwd = await configFolder({ chains: [] });
  const want = (batches: object) =>
    writeFile(
      join(cwd, 'explorer-etl.yaml'),
      JSON.stringify({
        explorer: { requests_per_second: 1000 },
        chains: [{ id: 10, name: 'optimism', operations: { 'optimism-batch-blocks': batches } }],
      }),
    );
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: list.url,
    EXPLORER_API_KEY: testKey,
  };
  const run = (...args: string[]) => call(args, { env, cwd });
  const runWithoutFile = (...args: string[]) => call(args, { env });
  const query = async (sql: string) =>
    (await database.pool.query<Record<string, string>>(sql)).rows;
  /** As if numbers had been requested, and a few read, before the command was stopped. */
  const hadRequested = (numbers: string) =>
    query(`update etl.feeds set target_numbers = target_numbers + '${numbers}'::int8multirange`);
  return { list, want, run, runWithoutFile, query, hadRequested };
}

const requested = 'select target_numbers::text from etl.feeds';

test(
  'batches that the file wants no more are no gap, and what was read of them stays',
  slow,
  async () => {
    const { list, want, run, query, hadRequested } = await world();
    await want({ from_batch: 400_006 });
    expect((await run('sync')).code).toBe(0);
    await hadRequested('{[1,)}');
    expect((await run('verify')).stdout).toContain('batches 1 to 400,005: not downloaded');

    const refused = await run('repair', '--yes');
    expect(refused.code).toBe(0);
    expect(refused.stdout).toContain('Nothing to do');
    expect((await run('verify')).code).toBe(0);
    expect(await query(requested)).toEqual([{ target_numbers: '{[400006,)}' }]);

    await want({ from_batch: 400_009 });
    expect((await run('sync')).code).toBe(0);
    expect(await query(requested)).toEqual([{ target_numbers: '{[400006,)}' }]);
    list.takeRequests();
    expect((await run('verify')).code).toBe(0);
  },
);

test(
  'a repair of many requests says what it costs, and does nothing until it is wanted',
  slow,
  async () => {
    const { list, want, run } = await world();
    await want({ from_batch: 400_006 });
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
    expect(new Set(list.takeRequests())).toEqual(
      new Set([400_001, 400_002, 400_003, 400_004, 400_005]),
    );
    expect((await run('verify')).code).toBe(0);
  },
);

test(
  'without a file the last command says what is wanted, and what was read stays',
  slow,
  async () => {
    const { runWithoutFile: run, query } = await world();
    const flags = ['--chain', '10', '--operation', 'optimism-batch-blocks'];
    const sync = (from: number, to: number) =>
      run('sync', ...flags, '--from-batch', String(from), '--to-batch', String(to));

    expect(await sync(400_001, 400_004)).toMatchObject({ code: 0 });
    expect(await sync(400_005, 400_008)).toMatchObject({ code: 0 });

    expect(await query(requested)).toEqual([{ target_numbers: '{[400001,400009)}' }]);
    expect((await run('verify')).stdout).toContain('batches 400,001 to 400,007, as of');
  },
);
