import { describe, expect, test } from 'vitest';
import {
  startInstantMs,
  type Motion,
  type OperationName,
  type SimulatedChain,
} from '../../../simulator/index.ts';
import { simulated } from '../../harness/explorer.ts';
import { truthAt } from '../../harness/truth/truth.ts';
import { addressHash, get, itemsOf, paths, smallChain, walk, type Json } from './walk.ts';

const seed = 21;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Everything moves, and often, so that hours show what weeks hold. */
const motion: Motion = {
  operationsPerMinute: 5,
  blockSeconds: 10,
  latePercent: 10,
  latestLateMs: 2 * hourMs,
  orphanedPercent: 20,
  reorgsPerDay: 400,
  oddBatchesPercent: 50,
  factoryChangeMs: 10 * minuteMs,
  absentFactoriesPercent: 20,
  newFactoriesPercent: 20,
};
const lively: SimulatedChain = { ...smallChain, motion };

/** A simulator at a time, or with a clock of its own; closed when the test ends. */
async function startAt(at: number | (() => number), chain = lively): Promise<string> {
  const clock = typeof at === 'number' ? () => at : at;
  const simulator = await simulated({ seed, chains: [chain], clock });
  return `${simulator.url}/${chain.id}/api/v2`;
}

const truthOf = (operation: OperationName, atMs: number, chain = lively) =>
  truthAt(seed, chain, { operations: [operation] }, atMs);
const operationsAt = (atMs: number, chain = lively) =>
  truthOf('user-operations', atMs, chain).user_operations;
const listedAt = (atMs: number, chain = lively) =>
  operationsAt(atMs, chain).filter((row) => row['removed_at'] === null);
const batchesAt = (atMs: number, chain = lively) => truthOf('optimism-batch-blocks', atMs, chain);
const factoriesAt = (atMs: number) => truthOf('factories', atMs).factories;
const bundlesAt = (atMs: number, chain = lively) => truthOf('bundles', atMs, chain).bundles;
const hashesOf = (rows: readonly Json[]) => rows.map((row) => row['hash']);
const byHash = (rows: readonly Json[]) => new Map(rows.map((row) => [row['hash'], row]));
const keyOf = (row: Json) => `${String(row['block_number'])},${String(row['hash'])}`;

describe.each([0, 5 * hourMs])('at %i ms', (atMs) => {
  test('the user operations are those of the truth', async () => {
    const pages = await walk(await startAt(atMs), paths.operations);
    const names = ['hash', 'transaction_hash', 'fee', 'status'];
    const keep = (row: Json) => [Number(row['block_number']), ...names.map((name) => row[name])];
    expect(itemsOf(pages).map(keep)).toEqual(listedAt(atMs).map(keep));
  });

  test('the bundles are those of the truth, and hold each listed operation once', async () => {
    const pages = await walk(await startAt(atMs), paths.bundles, { page_size: '7' });
    const names = ['transaction_hash', 'bundle_index', 'total_ops'];
    const keep = (row: Json) => [Number(row['block_number']), ...names.map((name) => row[name])];
    const listed = bundlesAt(atMs).filter((row) => row['removed_at'] === null);
    expect(itemsOf(pages).map(keep)).toEqual(listed.map(keep));
    const held = listed.reduce((sum, row) => sum + Number(row['total_ops']), 0);
    expect(held).toBe(listedAt(atMs).length);
  });

  test.each([
    ['factories', 'total_accounts'],
    ['bundlers', 'total_ops'],
    ['paymasters', 'total_ops'],
  ] as const)('the %s are those of the truth', async (list, total) => {
    const pages = await walk(await startAt(atMs), paths[list], { page_size: '7' });
    const listed = truthOf(list, atMs)[list].filter((row) => row['missing_since'] === null);
    expect(
      itemsOf(pages).map((item, place) => [addressHash(item['address']), item[total], place + 1]),
    ).toEqual(listed.map((row) => [row['address_hash'], row[total], row['rank']]));
  });

  test('the batches serve exactly the blocks of the truth', async () => {
    const { blocks, read_batches } = batchesAt(atMs);
    const base = await startAt(atMs);
    const served: Json[] = [];
    for (const row of read_batches.slice(-30)) {
      const pages = await walk(base, paths.batch(Number(row['batch_number'])));
      served.push(...itemsOf(pages));
    }
    const names = ['height', 'hash', 'parent_hash', 'transactions_count', 'transaction_fees'];
    const keep = (row: Json) => [
      ...names.map((name) => row[name]),
      row['is_pending_update'] ?? null,
    ];
    expect(served.length).toBeGreaterThan(400);
    expect(served.map(keep)).toEqual(blocks.slice(-served.length).map(keep));
  });
});

test('a reorganisation replaces up to ten hashes at the head, and the truth has each', () => {
  const chain = {
    ...smallChain,
    motion: { operationsPerMinute: 5, blockSeconds: 10, reorgsPerDay: 1000 },
    batches: { first: 1, count: 1, blocks: 50 },
  };
  const hashesAt = (atMs: number) =>
    new Map(batchesAt(atMs, chain).blocks.map((row) => [Number(row['height']), row['hash']]));
  const reorgs = new Set(
    batchesAt(hourMs, chain).block_reorgs.map((row) =>
      [row['height'], row['old_hash'], row['new_hash']].join(','),
    ),
  );
  const replaced: string[] = [];
  let before = hashesAt(0);
  for (let atMs = 10_000; atMs <= hourMs; atMs += 10_000) {
    const after = hashesAt(atMs);
    const changed = [...before].filter(([height, hash]) => after.get(height) !== hash);
    expect(changed.length).toBeLessThanOrEqual(10);
    for (const [height, hash] of changed) {
      expect(height).toBeGreaterThan(Math.max(...after.keys()) - 12);
      replaced.push([height, hash, after.get(height)].join(','));
    }
    before = after;
  }
  expect(replaced.length).toBeGreaterThan(100);
  expect(replaced.filter((row) => !reorgs.has(row))).toEqual([]);
});

describe('odd batches', () => {
  test('are over before a batch is settled: a settled one never changes', () => {
    const settled = new Map<unknown, string>();
    const changed: unknown[] = [];
    for (let atMs = 0; atMs <= 2 * hourMs; atMs += 5 * minuteMs) {
      const { read_batches, blocks } = batchesAt(atMs);
      for (const row of read_batches) {
        const number = row['batch_number'];
        const own = blocks.filter((block) => block['optimism_batch_number'] === number);
        const text = JSON.stringify([row, own]);
        if ((settled.get(number) ?? text) !== text) changed.push(number);
        if (row['state'] === 'settled') settled.set(number, text);
      }
    }
    expect(changed).toEqual([]);
    expect(settled.size).toBeGreaterThan(15);
  });

  test('lose no block', () => {
    const { blocks } = batchesAt(dayMs, { ...lively, motion: { ...motion, pendingMs: 0 } });
    const heights = blocks.map((row) => Number(row['height']));
    expect(new Set(heights).size).toBe(Math.max(...heights) - Math.min(...heights) + 1);
  });

  test('hold nothing for so many of every hundred numbers', () => {
    const batches = { first: 1, count: 1000, blocks: 5 };
    const rows = batchesAt(0, { ...smallChain, gapsPercent: 3, batches }).read_batches;
    expect(rows.filter((row) => row['state'] === 'empty')).toHaveLength(30);
    expect(rows.reduce((sum, row) => sum + Number(row['blocks_count']), 0)).toBe(970 * 5);
  });
});

test('orphaned operations return in a higher block near the head, mostly in another transaction', () => {
  const chain = { ...lively, userOperations: 50 };
  const moved = [];
  let sameTransaction = 0;
  let before = byHash(operationsAt(0, chain));
  for (let atMs = minuteMs; atMs < 2 * hourMs; atMs += minuteMs) {
    const after = byHash(operationsAt(atMs, chain));
    const head = Math.max(...[...after.values()].map((row) => Number(row['block_number'])));
    for (const [hash, row] of after) {
      const old = before.get(hash);
      if (old === undefined || old['block_number'] === row['block_number']) continue;
      moved.push(row);
      expect(Number(row['block_number'])).toBeGreaterThan(Number(old['block_number']));
      // Six blocks a minute, and the newest operation may be some blocks old.
      expect(Number(row['block_number'])).toBeGreaterThan(head - 12);
      if (row['transaction_hash'] === old['transaction_hash']) sameTransaction += 1;
      expect(row['address_hash']).toBe(old['address_hash']);
    }
    before = after;
  }
  expect(moved.length).toBeGreaterThan(10);
  expect(sameTransaction).toBeGreaterThan(2);
  expect(sameTransaction).toBeLessThan(moved.length - 2);
});

test('a bundle moves to another block, loses and wins operations, and leaves with the last', () => {
  const keyOfBundle = (row: Json) =>
    `${String(row['transaction_hash'])},${String(row['bundle_index'])}`;
  const before = new Map(bundlesAt(hourMs).map((row) => [keyOfBundle(row), row]));
  const both = bundlesAt(3 * hourMs).flatMap((now) => {
    const old = before.get(keyOfBundle(now));
    return old === undefined ? [] : [[old, now] as const];
  });
  expect(both).toHaveLength(before.size);
  const count = (happened: (old: Json, now: Json) => boolean) =>
    both.filter(([old, now]) => happened(old, now)).length;
  expect(count((old, now) => old['block_number'] !== now['block_number'])).toBeGreaterThan(0);
  expect(count((old, now) => Number(now['total_ops']) < Number(old['total_ops']))).toBeGreaterThan(
    0,
  );
  expect(count((old, now) => Number(now['total_ops']) > Number(old['total_ops']))).toBeGreaterThan(
    0,
  );
  expect(
    count((old, now) => old['removed_at'] === null && now['removed_at'] !== null),
  ).toBeGreaterThan(0);
});

describe('a walk while all moves', () => {
  test('repeats no cursor, no item that stays, and misses none', async () => {
    let nowMs = hourMs - 30_000;
    const pages = await walk(await startAt(() => (nowMs += 30_000)), paths.operations, {
      page_size: '5',
    });
    const served = hashesOf(itemsOf(pages));
    // `walk` itself fails at a repeated cursor.
    expect(new Set(served).size).toBe(served.length);
    const [start, end] = [listedAt(hourMs), byHash(listedAt(hourMs + pages.length * 30_000))];
    const stayed = start.filter(
      (row) => end.get(row['hash'])?.['block_number'] === row['block_number'],
    );
    expect(stayed.length).toBeGreaterThan(200);
    expect(stayed.filter((row) => !served.includes(row['hash']))).toEqual([]);
  });

  test('goes on where the item of its token has left', async () => {
    const after = listedAt(2 * hourMs);
    const gone = listedAt(hourMs).find((row) => !hashesOf(after).includes(row['hash'])) ?? {};
    const query = { apikey: 'simulated-key', page_token: keyOf(gone), page_size: '1' };
    const { body } = await get(await startAt(2 * hourMs), paths.operations, query);
    const below = after.find((row) => keyOf(row) < keyOf(gone));
    expect((body['items'] as Json[])[0]?.['hash']).toBe(below?.['hash']);
  });
});

test('a missing factory keeps the count that it was last listed with', () => {
  const missing = factoriesAt(2 * dayMs).filter((row) => row['missing_since'] !== null);
  expect(missing.length).toBeGreaterThan(2);
  for (const row of missing) {
    const lastMs = Date.parse(row['missing_since'] as string) - startInstantMs - 1;
    const last = factoriesAt(lastMs).find((other) => other['address_hash'] === row['address_hash']);
    expect(last).toMatchObject({ missing_since: null, total_accounts: row['total_accounts'] });
  }
});
