/**
 * `npm run bench:rows [-- --rows 1000000]`: what `verify` and `verify --rows` take on so many user
 * operations, and as many blocks. Exit code 1 if a planted damage is not found, or another is.
 */
import { parseArgs } from 'node:util';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { PgTable } from 'drizzle-orm/pg-core';
import { addresses } from '../src/address/tables.ts';
import { tableName } from '../src/db/digest.ts';
import { migrate } from '../src/db/migrate.ts';
import { createPool } from '../src/db/pool.ts';
import { prove } from '../src/report/proof.ts';
import { noteDamage } from '../src/rows/damage.ts';
import { rowFindingText } from '../src/words/row-finding-text.ts';
import { checkRows } from '../src/rows/check.ts';
import { readBatches, blocks } from '../src/operations/optimism-batch-blocks/tables.ts';
import { userOperations } from '../src/operations/user-operations/tables.ts';
import { countRows, fill } from '../test/grown/rows.ts';
import { clusterCpuMs } from './cluster-cpu.ts';
import { describeMachine } from './machine.ts';
import { withServer } from './server.ts';

const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' } } });
const rows = Number(values.rows);

/** Rows of one transaction, as a backfill writes them: 16 pages. */
const rowsAtOnce = 800;
/** Operations of one address. */
const perAddress = 20;
const blocksPerBatch = 1_000;

const hash = (text: string) => `'0x' || encode(sha256((${text})::text::bytea), 'hex')`;

/** The rows of a table, stored a transaction after the other, and what the ledger has of them. */
const filled = (table: PgTable, count: number, columns: Readonly<Record<string, string>>) => [
  fill({
    table,
    chain: 10,
    count,
    columns,
    stored: {
      at: `timestamptz '2026-01-01' + interval '1 second' * (n / ${rowsAtOnce})`,
      page: `n / ${rowsAtOnce}`,
    },
  }),
  countRows(table),
  `analyze ${tableName(table)}`,
];

const setup = [
  ...filled(addresses, rows / perAddress, {
    hash: hash('n'),
    name: `'name ' || n`,
    is_contract: 'n % 2 = 0',
    reputation: `'ok'::text`,
  }),
  ...filled(userOperations, rows, {
    hash: hash(`'op' || n`),
    block_number: 'n::bigint',
    timestamp: `timestamptz '2025-01-01' + interval '2 seconds' * n`,
    status: 'true',
    address_hash: hash(`1 + n % ${rows / perAddress}`),
    entry_point_hash: hash('1'),
    entry_point_version: `'v0.7'::text`,
    transaction_hash: hash(`'tx' || n`),
    fee: '187125856691380::numeric(78, 0)',
  }),
  ...filled(blocks, rows, {
    height: 'n::bigint',
    hash: hash(`'block' || n`),
    parent_hash: hash(`'block' || n - 1`),
    timestamp: `timestamptz '2025-01-01' + interval '2 seconds' * n`,
    type: `'block'::text`,
    miner_hash: hash('1'),
    size: '1234::bigint',
    is_pending_update: 'false',
    transactions_count: '7::bigint',
    gas_used: '1000000::numeric(78, 0)',
    optimism_batch_number: `(1 + (n - 1) / ${blocksPerBatch})::bigint`,
  }),
  ...filled(readBatches, rows / blocksPerBatch, {
    batch_number: 'n::bigint',
    state: `'settled'::text`,
    blocks_count: `${blocksPerBatch}::bigint`,
    first_height: `(1 + (n - 1) * ${blocksPerBatch})::bigint`,
    last_height: `(n * ${blocksPerBatch})::bigint`,
    is_contiguous: 'true',
    is_linked: 'true',
    is_proved: 'true',
    walked_at: `timestamptz '2026-01-01'`,
  }),
  `insert into explorer.chains (chain_id, name, native_symbol, digest)
   values (10, 'optimism', 'ETH', hash_record_extended(
     row(10::bigint, 'optimism'::text, 'ETH'::text, 18::bigint, null::text), 0
   ))`,
  `insert into etl.feeds (chain_id, operation, kind, settings, frontier, asked)
   values (10, 'user-operations', 'newest-first', '{}', null, '{}'),
          (10, 'optimism-batch-blocks', 'numbered', '{}', ${rows / blocksPerBatch}, '{[1,)}')`,
];

await withServer(async (server) => {
  const cpuMs = () => clusterCpuMs(server.dataDirectory) ?? Number.NaN;
  const timed = async <Result>(what: string, work: () => Promise<Result>): Promise<Result> => {
    const [begin, cpu] = [performance.now(), cpuMs()];
    const result = await work();
    const [wallMs, usedMs] = [performance.now() - begin, cpuMs() - cpu];
    console.log(
      `${what}: ${(wallMs / 1000).toFixed(1)} s, ${(usedMs / 1000).toFixed(1)} s of them at work in Postgres`,
    );
    return result;
  };
  console.log(await describeMachine(server.url));
  await server.withDatabase(async (url) => {
    await migrate(url);
    const pool = createPool({ url, max: 2, applicationName: 'explorer-etl bench' });
    try {
      const db = drizzle(pool);
      for (const statement of setup) await pool.query(statement);
      await timed(`verify, ${rows} operations and blocks`, () => prove(db));
      const clean = await timed('what --rows adds', () => checkRows(db));
      await pool.query(`delete from explorer.user_operations where block_number = 77`);
      await pool.query(`update explorer.user_operations set fee = 1 where block_number = 78`);
      const damaged = await timed('the same with damage', () => checkRows(db));
      const noted = await timed('repair --rows, before its requests', () => noteDamage(db));
      console.log(damaged.findings.map((finding) => `  ${rowFindingText(finding)}`).join('\n'));
      if (clean.findings.length > 0 || damaged.findings.length !== 2 || noted.size !== 1) {
        process.exitCode = 1;
      }
    } finally {
      await pool.end();
    }
  });
});
