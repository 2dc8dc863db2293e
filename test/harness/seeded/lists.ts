import type { PgTable } from 'drizzle-orm/pg-core';
import type { Pool } from 'pg';
import { loadSettings } from '../../../src/config/load.ts';
import type { Settings } from '../../../src/config/settings.ts';
import { type OperationName, operations as lists } from '../../../src/lists/registry.ts';
import { answering, type Service, testKey } from '../explorer.ts';

/** How much is seeded of a chain. */
export interface Size {
  /** User operations; each block has one. */
  readonly operations: number;
  /** When the newest one was, Unix time in ms. */
  readonly nowMs: number;
  /** A block each so often, in ms: longer ones make few operations a long history. */
  readonly blockMs: number;
}

/** As a busy chain has them, in ms: 43,200 a day, and a poll every two minutes. */
export const usualBlockMs = 2_000;
/** Blocks between two polls. */
export const pollBlocks = 60;
export const pageItems = 50;
/** Blocks of a batch: two pages. */
export const batchBlocks = 100;

/** Columns as SQL over the number `n` of a row. */
export type Columns = Readonly<Record<string, string>>;

/** A list whose items are numbered from 1. The table and the explorer have each from its number. */
export interface SeededList {
  readonly operation: OperationName;
  readonly table: PgTable;
  /** How many are stored; a poll's interval has brought `fresh` more. */
  readonly top: number;
  readonly fresh: number;
  /** What names an item beside its number, as SQL. */
  readonly key: (number: string) => string;
  /** The cursor of the page that begins with an item, as SQL. */
  readonly cursor: (number: string) => string;
  /** Of item `n`, what both have, and what each has alone or calls by another name. */
  readonly fields: Columns;
  readonly stored: Columns;
  readonly served: Columns;
}

const hash = (thing: string, number: string, digits = 64) =>
  `('0x' || left(encode(sha256(('${thing} ' || (${number}))::bytea), 'hex'), ${digits}))`;
const addressHash = (thing: 'address' | 'factory', number: string) => hash(thing, number, 40);

/** A moment so many blocks before the newest operation, as SQL. */
export const blocksAgo = ({ nowMs, blockMs }: Size, count: string) =>
  `(timestamptz '${new Date(nowMs).toISOString()}' - (${count}) * interval '${blockMs} ms')`;

/** Lists with tokens, and those that name the number above. */
const byToken = (key: (number: string) => string) => ({
  key,
  cursor: (number: string) =>
    `jsonb_build_object('page_token', (${number}) || ',' || ${key(number)})`,
});
const byNumber = (field: string) => ({
  key: (number: string) => `(${number})::text`,
  cursor: (number: string) =>
    `jsonb_build_object('${field}', (${number}) + 1, 'items_count', ${pageItems})`,
});

const noItems = `'[]'::jsonb`;

/** Each address has seven operations. */
export const addressesOf = ({ operations }: Size) => Math.ceil(operations / 7);

/**
 * The lists of the seeded chain. With 20 million operations there are 3 million addresses, 2 million blocks and
 * 180,000 walks, most of them polls.
 */
export function seededLists(size: Size) {
  const { operations } = size;
  const address = addressHash('address', `1 + n % ${addressesOf(size)}`);
  const entryPoint = addressHash('address', '1');
  const factory = addressHash('factory', 'n');
  const batches = Math.max(3_000, Math.round(operations / 1_000));
  const ranked = Math.max(60, Math.round(operations / 5_000));
  return {
    operations: {
      operation: 'user-operations',
      table: lists['user-operations'].table,
      top: operations,
      fresh: pollBlocks,
      ...byToken((number) => hash('operation', number)),
      fields: {
        hash: hash('operation', 'n'),
        block_number: 'n',
        timestamp: blocksAgo(size, `${operations} - n`),
        status: 'true',
        entry_point_version: `'v0.7'`,
        transaction_hash: hash('transaction', 'n'),
        fee: `'187125856691380'`,
      },
      stored: { address_hash: address, entry_point_hash: entryPoint },
      served: { address, entry_point: entryPoint },
    },
    batches: {
      operation: 'optimism-batches',
      table: lists['optimism-batches'].table,
      top: batches,
      fresh: 1,
      ...byNumber('id'),
      fields: {
        l1_timestamp: blocksAgo(size, `(${batches} - n) * ${batchBlocks}`),
        transactions_count: '700',
        l2_start_block_number: `(n - 1) * ${batchBlocks} + 1`,
        l2_end_block_number: `n * ${batchBlocks}`,
        batch_data_container: `'in_blob4844'`,
      },
      stored: { batch_number: 'n' },
      served: { number: 'n', l1_transaction_hashes: noItems },
    },
    blocks: {
      operation: 'optimism-batch-blocks',
      table: lists['optimism-batch-blocks'].table,
      top: batches * batchBlocks,
      fresh: batchBlocks,
      ...byNumber('block_number'),
      fields: {
        height: 'n',
        hash: hash('block', 'n'),
        parent_hash: hash('block', 'n - 1'),
        timestamp: blocksAgo(size, `${batches * batchBlocks} - n`),
        type: `'block'`,
        size: '1234',
        is_pending_update: 'false',
        transactions_count: '7',
        gas_used: `'1000000'`,
      },
      stored: { miner_hash: entryPoint, optimism_batch_number: `(n - 1) / ${batchBlocks} + 1` },
      served: { miner: entryPoint, rewards: noItems, uncles_hashes: noItems },
    },
    factories: {
      operation: 'factories',
      table: lists.factories.table,
      top: ranked,
      fresh: 0,
      ...byToken((number) => addressHash('factory', number)),
      fields: { total_accounts: 'n' },
      stored: { address_hash: factory, rank: `${ranked} - n + 1` },
      served: { address: factory },
    },
  } as const satisfies Record<string, SeededList>;
}

/** The program's own settings for the seeded chain; its budget is asked and never waits. */
export function seededSettings(explorerUrl: string): Settings {
  const env = { EXPLORER_BASE_URL: explorerUrl, EXPLORER_API_KEY: testKey };
  const settings = loadSettings({ cwd: '/', env, chains: ['10'] });
  return { ...settings, explorer: { ...settings.explorer, requestsPerSecond: 100_000 } };
}

/** A page of items from `from` down to `lowest`, and the cursor of the next. */
function pageSql({ fields, served, cursor }: SeededList, from: number, lowest: number) {
  const next = from - pageItems;
  const item = Object.entries({ ...fields, ...served }).map(([name, sql]) => `'${name}', ${sql}`);
  return `
    select coalesce(jsonb_agg(jsonb_build_object(${item.join(', ')}) order by n desc), '[]') as items,
           ${next < lowest ? 'null' : cursor(String(next))} as next_page_params
    from generate_series(${Math.max(lowest, next + 1)}::bigint, ${from}) as n`;
}

/** Serves what is stored, and what a poll's interval has brought since; the database makes each page. */
export function exploreSeeded(pool: Pool, size: Size): Promise<Service> {
  const { blocks: blockList, ...others } = seededLists(size);
  const named = new Map<string, SeededList>(Object.entries(others));
  return answering(async ({ pathname, searchParams: query }) => {
    const name = pathname.split('/').at(-1) ?? '';
    const list = /^\d+$/u.test(name) ? blockList : named.get(name);
    if (list === undefined) return { status: 404, body: {} };
    const above = query.get('id') ?? query.get('block_number') ?? Infinity;
    const from = query.get('page_token')?.split(',')[0] ?? Number(above) - 1;
    const [top, lowest] =
      list === blockList
        ? [Number(name) * batchBlocks, (Number(name) - 1) * batchBlocks + 1]
        : [Infinity, 1];
    const highest = Math.min(Number(from), top, list.top + list.fresh);
    const { rows } = await pool.query<object>(pageSql(list, highest, lowest));
    return { body: rows[0] };
  });
}
