import { beforeAll, describe, expect, test } from 'vitest';
import { batchRange } from '../../../simulator/batches.ts';
import { createWorld } from '../../../simulator/world.ts';
import { startInstantMs, type Motion } from '../../../simulator/index.ts';
import { truthAt } from '../../truth/truth.ts';
import { dayMs, hourMs, livelyChain, livelyMotion, minuteMs, seed, startMoving } from './moving.ts';
import { get, itemsOf, paths, smallChain, walk, type Json } from './walk.ts';

const onlyBatches = { operations: ['optimism-batch-blocks'] } as const;
const times = [0, 25_000, 3 * hourMs, 3 * hourMs + 7 * minuteMs];

/** Blocks every 10 seconds, 50 a batch: one in about eight minutes, so 10 are open for long. */
const chainWith = (motion: Partial<Motion>) => ({
  ...smallChain,
  motion: { operationsPerMinute: 5, blockSeconds: 10, ...motion },
});

const truthOf = (atMs: number, chain = livelyChain) => truthAt(seed, chain, onlyBatches, atMs);
const blockPairs = (rows: readonly Json[]) =>
  rows.map((row) => [row['optimism_batch_number'], row['height']]);

async function readAll(base: string, atMs: number, chain = livelyChain): Promise<Json[]> {
  const numbers = truthOf(atMs, chain).read_batches.map((row) => Number(row['batch_number']));
  const blocks: Json[] = [];
  for (const number of numbers) {
    const pages = await walk(base, paths.batch(number));
    blocks.push(...itemsOf(pages).map((item) => ({ ...item, number })));
  }
  return blocks;
}

describe.each(times)('at %i ms the batches', (atMs) => {
  test('serve exactly the blocks of the truth', async () => {
    const { base, clock } = await startMoving();
    clock.nowMs = atMs;
    const served = await readAll(base, atMs);
    expect(
      served.map((item) => [
        item['number'],
        item['height'],
        item['hash'],
        item['parent_hash'],
        item['is_pending_update'] ?? null,
        item['transactions_count'],
        item['transaction_fees'],
      ]),
    ).toEqual(
      truthOf(atMs).blocks.map((row) => [
        row['optimism_batch_number'],
        row['height'],
        row['hash'],
        row['parent_hash'],
        row['is_pending_update'],
        row['transactions_count'],
        row['transaction_fees'],
      ]),
    );
  });

  test('hold a height once, and link wherever heights meet', () => {
    const byHeight = new Map(truthOf(atMs).blocks.map((row) => [row['height'], row]));
    expect(byHeight.size).toBe(truthOf(atMs).blocks.length);
    const joints = [...byHeight.values()].filter((row) => byHeight.has(Number(row['height']) - 1));
    expect(joints.length).toBeGreaterThan(byHeight.size - 5);
    for (const row of joints) {
      expect(row['parent_hash']).toBe(byHeight.get(Number(row['height']) - 1)?.['hash']);
    }
  });

  test('show nothing above the newest', async () => {
    const { base, clock } = await startMoving();
    clock.nowMs = atMs;
    const newest = Number(truthOf(atMs).read_batches.at(-1)?.['batch_number']);
    const counts = [];
    for (const number of [newest, newest + 1, newest + 2, newest + 1000]) {
      counts.push((await readBatch(base, number)).length > 0);
    }
    expect(counts).toEqual([true, false, false, false]);
  });
});

test('at the start the batches are full, then the newest fills and others follow', () => {
  const chain = chainWith({});
  const counts = (atMs: number) =>
    truthOf(atMs, chain).read_batches.map((row) => Number(row['blocks_count']));
  const full = counts(0);
  expect(full).toHaveLength(10);
  expect(full.reduce((sum, count) => sum + count, 0)).toBe(500);
  expect(counts(30_000)).toEqual([...full, 3]);
  expect(counts(60_000)).toEqual([...full, 6]);
  // Five batches hold 250 blocks.
  expect(counts(2_500_000)).toHaveLength(15);
});

test('the newest block is dated in the block time before the clock', () => {
  const { blocks } = truthOf(hourMs, chainWith({}));
  const newest = blocks.reduce((a, b) => (Number(a['height']) > Number(b['height']) ? a : b));
  const agoMs = startInstantMs + hourMs - Date.parse(newest['timestamp'] as string);
  expect(agoMs).toBeGreaterThan(0);
  expect(agoMs).toBeLessThanOrEqual(10_000);
});

describe('a reorganisation', () => {
  const chain = {
    ...chainWith({ reorgsPerDay: 1000 }),
    batches: { first: 1, count: 1, blocks: 50 },
  };
  const hashesAt = (atMs: number) =>
    new Map(truthOf(atMs, chain).blocks.map((row) => [Number(row['height']), String(row['hash'])]));

  test('replaces up to ten hashes at the head, and each is told', () => {
    const replaced: string[] = [];
    let before = hashesAt(0);
    for (let atMs = 10_000; atMs <= hourMs; atMs += 10_000) {
      const after = hashesAt(atMs);
      const changed = [...before].filter(([height, hash]) => after.get(height) !== hash);
      expect(changed.length).toBeLessThanOrEqual(10);
      const head = Math.max(...after.keys());
      for (const [height, hash] of changed) {
        expect(height).toBeGreaterThan(head - 12);
        replaced.push([height, hash, after.get(height)].join(','));
      }
      before = after;
    }
    const told = truthOf(hourMs, chain).block_reorgs.map((row) =>
      [row['height'], row['old_hash'], row['new_hash']].join(','),
    );
    expect(replaced.length).toBeGreaterThan(100);
    expect(replaced.filter((row) => !told.includes(row))).toEqual([]);
    // The rest are hashes that came and went between two readings.
    expect(replaced.length / told.length).toBeGreaterThan(0.7);
  });

  test('happens as often as asked for', () => {
    const { block_reorgs } = truthOf(2 * hourMs, chain);
    // 1000 a day, of 5.5 blocks on average.
    expect(block_reorgs.length).toBeGreaterThan((83 * 5.5) / 1.3);
    expect(block_reorgs.length).toBeLessThan(83 * 5.5 * 1.3);
  });

  test('never touches history', () => {
    expect(truthOf(0, chain).block_reorgs).toEqual([]);
  });
});

test('a new block is pending for a while, and changes when that ends', () => {
  const chain = chainWith({ pendingMs: 5 * minuteMs });
  const rowsAt = (atMs: number) =>
    new Map(truthOf(atMs, chain).blocks.map((row) => [row['height'], row]));
  const [before, after] = [rowsAt(hourMs), rowsAt(hourMs + 5 * minuteMs)];
  const pending = [...before.values()].filter((row) => row['is_pending_update'] === true);
  expect(pending).toHaveLength(30);
  for (const row of pending) {
    const settled = after.get(Number(row['height']));
    expect(settled?.['is_pending_update']).not.toBe(true);
    expect(settled?.['transaction_fees']).not.toBe(row['transaction_fees']);
    expect(settled?.['hash']).toBe(row['hash']);
  }
});

describe('odd fates', () => {
  const world = createWorld(seed, chainWith({ oddBatchesPercent: 50, pendingMs: 20 * minuteMs }));
  const rangesAt = (atMs: number) => {
    const { first } = world.chain.batches;
    const numbers = Array.from({ length: 150 }, (_, place) => first + place);
    return new Map(numbers.map((number) => [number, batchRange(world, number, atMs)]));
  };
  const seen = { held: 0, traded: 0, vanished: 0, reused: 0 };

  beforeAll(() => {
    let before = rangesAt(0);
    for (let atMs = minuteMs; atMs <= 12 * hourMs; atMs += minuteMs) {
      const after = rangesAt(atMs);
      for (const [number, old] of before) {
        const now = after.get(number) ?? null;
        if (old !== null && now === null) seen.vanished += 1;
        if (old === null || now === null) continue;
        // Six blocks a minute at most are new.
        if (now.lowest > old.lowest + 20) seen.reused += 1;
        else if (now.highest > old.highest + 6) seen.held += 1;
        else if (now.lowest !== old.lowest && Math.abs(now.lowest - old.lowest) < 4) {
          seen.traded += 1;
        }
      }
      before = after;
    }
  });

  test.each(['held', 'traded', 'vanished', 'reused'] as const)('some are %s', (kind) => {
    expect(seen[kind]).toBeGreaterThan(0);
  });

  test('are over before a batch is settled: a settled one never changes', () => {
    const settled = new Map<number, string>();
    const changed: number[] = [];
    for (let atMs = 0; atMs <= 2 * hourMs; atMs += 5 * minuteMs) {
      const { read_batches, blocks } = truthOf(atMs);
      for (const row of read_batches) {
        const number = Number(row['batch_number']);
        const own = blocks.filter((block) => block['optimism_batch_number'] === number);
        const text = JSON.stringify([row, own]);
        if ((settled.get(number) ?? text) !== text) changed.push(number);
        if (row['state'] === 'settled') settled.set(number, text);
      }
    }
    expect(changed).toEqual([]);
    expect(settled.size).toBeGreaterThan(15);
  });

  test('leave at last all but the newest batches settled or empty', () => {
    const states = truthOf(dayMs, livelyChain).read_batches.map((row) => row['state']);
    const open = states.findIndex((state) => state === 'open');
    expect(states.length - open).toBeLessThan(8);
    expect(states.slice(0, open)).toContain('empty');
  });

  test('lose no block', () => {
    const chainAt = truthOf(dayMs, { ...livelyChain, motion: { ...livelyMotion, pendingMs: 0 } });
    const heights = blockPairs(chainAt.blocks).map(([, height]) => Number(height));
    expect(new Set(heights).size).toBe(Math.max(...heights) - Math.min(...heights) + 1);
  });
});

describe('holes of a percentage', () => {
  const far = {
    ...smallChain,
    holesPercent: 3,
    batches: { first: 1, count: 400_000, blocks: 200 },
  };

  test('are so many of every hundred numbers', () => {
    const chain = { ...far, batches: { first: 1, count: 1000, blocks: 5 } };
    const rows = truthAt(seed, chain, onlyBatches, 0).read_batches;
    const empty = rows.filter((row) => row['state'] === 'empty').map((row) => row['batch_number']);
    expect(empty).toHaveLength(30);
    expect(new Set(empty.map((number) => Math.floor((Number(number) - 1) / 100))).size).toBe(10);
    expect(rows.reduce((sum, row) => sum + Number(row['blocks_count']), 0)).toBe(970 * 5);
  });

  test.each([undefined, { operationsPerMinute: 5 }])(
    'leave the frontier of 400,000 batches where it is, with motion %o',
    async (motion) => {
      const { base } = await startMoving(motion === undefined ? far : { ...far, motion });
      const lengths = [];
      for (const number of [0, 399_999, 400_000, 400_001, 800_000, 999_999_999_999]) {
        lengths.push((await readBatch(base, number)).length);
      }
      expect(lengths.map((length) => length > 0)).toEqual([false, true, true, false, false, false]);
    },
  );

  test('beside listed holes let their neighbours meet', () => {
    const chain = { ...far, holes: [5, 6, 61], batches: { first: 3, count: 150, blocks: 5 } };
    const rows = truthAt(seed, chain, onlyBatches, 0).read_batches;
    const numbers = rows
      .filter((row) => row['state'] === 'empty')
      .map((row) => row['batch_number']);
    expect(numbers).toEqual(expect.arrayContaining([5, 6, 61]));
    expect(numbers.length).toBeGreaterThanOrEqual(6);
    const full = rows.filter((row) => row['state'] !== 'empty');
    expect(full.slice(1).map((row) => row['first_height'])).toEqual(
      full.slice(0, -1).map((row) => Number(row['last_height']) + 1),
    );
  });
});

async function readBatch(base: string, number: number): Promise<unknown[]> {
  const { body } = await get(base, paths.batch(number), { apikey: 'simulated-key' });
  return body['items'] as unknown[];
}
