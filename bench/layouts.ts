/**
 * What a layout of `explorer.user_operations` costs and brings: whole, partitioned by chain, and, where
 * Citus is installed, spread over two servers. The same rows, on one machine.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { changeLargeTable } from '../src/cli/large-table.ts';
import { migrate } from '../src/db/migrate.ts';
import { createPool } from '../src/db/pool.ts';
import { upsert } from '../src/load/upsert.ts';
import { userOperations } from '../src/operations/user-operations/tables.ts';
import { citusBinaries } from '../test/citus/binaries.ts';
import { joinNodes, onDatabase, startCluster, stopCluster, urlOf } from '../test/citus/cluster.ts';
import { withServer } from './server.ts';

type Layout = 'plain' | 'partitioned' | 'distributed';

const { values } = parseArgs({ options: { operations: { type: 'string', default: '1000000' } } });
const operations = Number(values.operations);

/** Of so many runs the middle one counts. */
const runs = 11;

/** One chain has most of the rows, as it is: 7 of 10, then 2, then 1. */
const fill = (count: number) => `
  insert into explorer.addresses (chain_id, hash, name, page_id)
  select chain, '0x' || lpad(to_hex(i), 40, '0'), 'sender ' || i, 1
  from unnest(array[10, 8453, 42220]) as chain, generate_series(0, ${Math.ceil(count / 20)}) as i;
  insert into explorer.user_operations (
    chain_id, hash, block_number, timestamp, status, address_hash, entry_point_hash,
    entry_point_version, transaction_hash, fee, page_id
  )
  select case when i % 10 < 7 then 10 when i % 10 < 9 then 8453 else 42220 end,
         '0x' || md5(i::text) || md5((-i)::text), i / 2, now() - i * interval '2 seconds', i % 11 > 0,
         '0x' || lpad(to_hex((i::bigint * i) % ${Math.ceil(count / 20)}), 40, '0'),
         '0x0000000071727de22e5e9d8baf0edac6f37da032', 'v0.7', '0x' || md5((i / 2)::text), i * 1000, i / 50
  from generate_series(1, ${count}) as i;
  analyze`;

const questions: Readonly<Record<string, string>> = {
  'top senders of the large chain': `
    select address_hash, count(*) from explorer.user_operations
    where chain_id = 10 group by address_hash order by count(*) desc limit 10`,
  'top senders of the small chain': `
    select address_hash, count(*) from explorer.user_operations
    where chain_id = 42220 group by address_hash order by count(*) desc limit 10`,
  'join with addresses, all of the large chain': `
    select a.name, count(*), sum(fee) from explorer.user_operations as o
    join explorer.addresses as a on a.chain_id = o.chain_id and a.hash = o.address_hash
    where o.chain_id = 10 group by a.name order by 2 desc limit 10`,
  'join with addresses, the newest 50': `
    select o.hash, a.name
    from (
      select chain_id, hash, address_hash from explorer.user_operations
      where chain_id = 10 order by block_number desc limit 50
    ) as o
    join explorer.addresses as a on a.chain_id = o.chain_id and a.hash = o.address_hash`,
  'one operation by its hash': `
    select * from explorer.user_operations
    where chain_id = 10 and hash = '0x' || md5('1') || md5('-1')`,
};

/** A database with rows in it, and what bringing it to its layout took, in ms. */
interface Filled {
  readonly layout: Layout;
  readonly pool: Pool;
  readonly changeMs: number;
}

async function fillDatabase(url: string, layout: Layout): Promise<Filled> {
  const pool = createPool({ url, max: 2, applicationName: 'explorer-etl bench' });
  await migrate(url);
  await pool.query(fill(operations));
  await pool.query(`insert into etl.feeds (chain_id, operation, kind, settings)
    select chain, 'user-operations', 'newest-first', '{}' from unnest(array[10, 8453, 42220]) as chain`);
  const changeMs = await timed(async () => {
    if (layout !== 'plain') await changeLargeTable(pool, layout, () => undefined);
  });
  await pool.query('vacuum analyze explorer.user_operations');
  return { layout, pool, changeMs };
}

/** Of each layout the middle of some runs; layouts take turns, so that what else the machine does is the same to all. */
async function measure(filled: readonly Filled[]): Promise<string[][]> {
  const works = Object.entries(questions).map(
    ([name, question]) =>
      [
        name,
        filled.map(
          ({ pool }) =>
            () =>
              pool.query(question),
        ),
      ] as const,
  );
  const writers = filled.map(({ pool }) => pageWriter(pool));
  const rows = [
    ['the change of layout itself', ...filled.map(({ changeMs }) => changeMs.toFixed(0))],
  ];
  for (const [name, each] of [...works, ['a page of 50 new rows, written', writers] as const]) {
    const times: number[][] = each.map(() => []);
    for (let run = 0; run <= runs; run += 1) {
      for (const [at, work] of each.entries()) times[at]?.push(await timed(work));
    }
    rows.push([name, ...times.map(([_first, ...counted]) => middle(counted).toFixed(1))]);
  }
  for (const { pool } of filled) await pool.end();
  return rows;
}

/** Writes the next page, each time that it is called. */
function pageWriter(pool: Pool): () => Promise<unknown> {
  let written = 0;
  return () =>
    drizzle(pool).transaction((tx) => {
      const rows = Array.from({ length: 50 }, () => {
        written += 1;
        const hash = `0xnew${written}`;
        return { chain_id: 10, hash, block_number: operations + written, page_id: written };
      });
      return upsert(tx, userOperations, rows);
    });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

const middle = (times: readonly number[]) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? NaN;

async function measureOnCluster(binaries: string): Promise<string[][]> {
  const cluster = await startCluster(binaries, join(tmpdir(), 'explorer-etl-layouts-'));
  const { coordinator, workers } = cluster;
  try {
    const filled: Filled[] = [];
    for (const layout of ['plain', 'partitioned', 'distributed'] as const) {
      for (const node of [coordinator, ...workers]) {
        await onDatabase(node, 'postgres', (client) => client.query(`create database ${layout}`));
      }
      await joinNodes(cluster, layout);
      filled.push(await fillDatabase(urlOf(coordinator, layout), layout));
    }
    return await measure(filled);
  } finally {
    await stopCluster(cluster);
  }
}

const measureOnOne = (): Promise<string[][]> =>
  withServer((server) =>
    server.withDatabase((plain) =>
      server.withDatabase(async (partitioned) =>
        measure([
          await fillDatabase(plain, 'plain'),
          await fillDatabase(partitioned, 'partitioned'),
        ]),
      ),
    ),
  );

const binaries = citusBinaries();
const rows = binaries === null ? await measureOnOne() : await measureOnCluster(binaries);
const layouts = ['plain', 'partitioned', 'distributed'].slice(0, (rows[0]?.length ?? 1) - 1);
const table = new Table({
  head: [`ms, ${operations} operations`, ...layouts],
  style: { head: [], border: [] },
});
for (const row of rows) table.push(row);
process.stdout.write(`${table.toString()}\n`);
