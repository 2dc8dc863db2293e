import type { Occasion, ScopeBounds } from '../../src/lists/list.ts';
import type { OperationName } from '../../src/lists/registry.ts';
import { verifyFeeds } from '../../src/status/verify.ts';
import type { ConfiguredLane } from '../../src/sync/feeds.ts';
import { freshDatabase } from './database.ts';
import { keepLists, type KeptBlock, range } from './kept.ts';
import { inWords } from './ledger.ts';
import { openRunner, type SliceWork } from './runner.ts';
import { plainChain } from './sync.ts';

const minuteMs = 60_000;
/** When the driven clock begins. */
export const startMs = Date.UTC(2026, 5, 1);

/** Of few blocks: to store fifty takes longer than all else. */
export const pageSize = 10;

/** Blocks of a full batch: three pages. */
export const batchBlocks = 24;

/** The blocks of a batch as it is when nothing is odd about it. */
export const fullBatch = (number: number): KeptBlock[] =>
  range(1000 + number * batchBlocks, 999 + (number + 1) * batchBlocks).map((height) => ({
    height,
  }));

/**
 * An explorer that has full batches 1 to `count`, and looks at it at minutes of a driven clock.
 *
 * @param bounds the range that is requested; without it all from 1 on
 * @param beside other lists that are copied too, before each poll
 */
export async function batchWorld(
  count: number,
  bounds: ScopeBounds = {},
  beside: readonly OperationName[] = [],
) {
  const list = await keepLists();
  for (const number of range(1, count)) list.batches.set(number, fullBatch(number));
  const database = await freshDatabase();
  const operations = ['optimism-batch-blocks', ...beside];
  const run = { url: list.url, chains: [plainChain], operations, pageSize, ...bounds };
  const runner = await openRunner(database, run);
  const { lanes } = runner;
  /** @returns the numbers that were requested, in order */
  const poll = async (
    minute: number,
    occasion: Occasion = 'schedule',
    budgetOf?: () => SliceWork,
  ) => {
    const at = new Date(startMs + minute * minuteMs);
    const isOfBlocks = ({ lane }: ConfiguredLane) => lane.operation === 'optimism-batch-blocks';
    const others = lanes.filter((lane) => !isOfBlocks(lane));
    await runner.run(others, at, occasion);
    const ended = await runner.run(lanes.filter(isOfBlocks), at, occasion, budgetOf);
    const failed = ended.filter((how) => how !== 'finished');
    if (failed.length > 0) throw new Error(failed.join('; '));
    return list.takeRequests().flatMap(({ batch }) => batch ?? []);
  };
  const states = async () => {
    const rows = await database.query(
      `select batch_number as batch,
              state || case when blocks_count = 0 and is_verified then ', verified' else '' end as is
       from explorer.read_batches order by 1`,
    );
    return Object.fromEntries(rows.map(({ batch, is }) => [batch, is]));
  };
  const membersOf = async (from: number, to: number): Promise<(number | null)[]> => {
    const rows = await database.query(
      `select optimism_batch_number::int as batch from explorer.blocks
       where height between $1 and $2 order by height`,
      [from, to],
    );
    return rows.map(({ batch }) => batch);
  };
  /** What the report says of the feed, in words. */
  const verify = async () => {
    const reports = await verifyFeeds(runner.db);
    const report = reports.find(({ operation }) => operation === 'optimism-batch-blocks');
    if (report === undefined) throw new Error('no feed');
    return inWords(report);
  };
  return { list, poll, states, membersOf, verify, runner, lanes, database };
}

/** How often a number was requested. */
export const times = (numbers: readonly number[], wanted: number) =>
  numbers.filter((number) => number === wanted).length;
