import { expect, test } from 'vitest';
import type { VerifyDocument } from '../../../src/status/verify.ts';
import { whole } from '../../../src/terminal/numbers.ts';
import { times } from '../../harness/batch-world.ts';
import { range } from '../../harness/kept.ts';
import { call } from '../../harness/process.ts';
import { pages, postedAs, world } from './listed-world.ts';

test('the list of batches shows the newest one, and each number that it lacks is requested once', async () => {
  const used = [...range(1, 6), ...range(9, 10), ...range(40, 44)];
  const { poll, states, open, latestBatch } = await world(used);

  const requested = await poll(0);

  expect(await latestBatch()).toBe(44);
  const unused = range(1, 44).filter((number) => !used.includes(number));
  // One request whether the newest is there, and its pages; the lowest is requested four times where it ends.
  expect(requested.length).toBe(used.length * pages + 1 + 3 + unused.length);
  expect(requested.filter((number) => unused.includes(number)).toSorted((a, b) => a - b)).toEqual(
    unused,
  );
  expect(await states()).toMatchObject({
    7: 'empty, verified',
    20: 'empty, verified',
    43: 'settled',
  });
  expect(await open()).toEqual([]);
});

test('the first poll finds new batches behind a gap', async () => {
  const { poll, serve, latestBatch, open } = await world(range(1, 5));
  await poll(0);
  serve([...range(1, 5), 60, 61]);

  const requested = await poll(10);

  expect(await latestBatch()).toBe(61);
  const unused = range(6, 59);
  expect(requested.filter((number) => unused.includes(number)).toSorted((a, b) => a - b)).toEqual(
    unused,
  );
  expect(await open()).toEqual([]);
  expect(await poll(20)).toEqual([62, 61]);
});

test('a verified batch whose blocks differ from those posted to L1 is open until they agree', async () => {
  const { poll, serve, alsoState, states, open } = await world(range(1, 5));
  const [start, end] = postedAs(2);
  alsoState(3, [start, end - 1]);

  await poll(0);

  expect(await states()).toMatchObject({ 3: 'settled' });
  expect(await open()).toEqual([
    `batch 3: blocks ${whole(start)} to ${whole(end)} downloaded, ${whole(start)} to ${whole(end - 1)} in the list of batches`,
  ]);

  serve(range(1, 5));
  await poll(10);
  expect(await open()).toEqual([]);
});

test('a number that is verified as empty, but has blocks in the list, is open', async () => {
  const { poll, alsoState, states, open } = await world([1, 2, 3, 5, 6]);
  alsoState(4, [5, 9]);

  await poll(0);

  expect(await states()).toMatchObject({ 4: 'empty, verified' });
  expect(await open()).toEqual([
    'batch 4: downloaded as empty, blocks 5 to 9 in the list of batches',
  ]);
});

test('a batch that is listed before its blocks is requested once a run, and reported as open', async () => {
  const { poll, database, open, state, index } = await world(range(1, 5));
  await poll(0);
  state(range(1, 6));

  for (const minute of [10, 20]) expect(times(await poll(minute), 6)).toBe(1);
  expect(await open()).toEqual(['batch 6: listed, but without blocks']);
  const { stdout } = await call(['verify', '--json'], { env: { DATABASE_URL: database.url } });
  const { feeds } = JSON.parse(stdout) as VerifyDocument;
  expect(feeds.flatMap((feed) => feed.open)).toMatchObject([
    {
      kind: 'gap',
      place: { unit: 'batches', from: 6, to: 6 },
      command: 'explorer-etl sync --chain 10 --operation optimism-batch-blocks',
    },
  ]);
  const rows = await database.query(`select from_block::int, to_block::int from explorer.gaps`);
  expect(rows).toEqual([{ from_block: 6, to_block: 6 }]);

  index(6);
  expect(times(await poll(50), 6)).toBeGreaterThan(0);
  expect(await open()).toEqual([]);
});
