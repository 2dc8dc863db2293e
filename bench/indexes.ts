/**
 * `npm run bench:indexes [-- --pages 10000]`: what each index for people who query costs the writer. Pages of
 * 50 operations come newest first, as a history is read, in one walk and in eight.
 */
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import type { Client } from 'pg';
import { migrate } from '../src/db/migrate.ts';
import { describeMachine } from './machine.ts';
import { withClient, withServer } from './server.ts';

const { values } = parseArgs({ options: { pages: { type: 'string', default: '10000' } } });
const pages = Number(values.pages);

const pageSize = 50;
const table = 'explorer.user_operations';

/** What stays: the program's own indexes. Each of the others is measured beside them, alone. */
const own = ['chain_id_hash_pk', 'block_number', 'address_hash'];

const variants: Readonly<Record<string, string | null>> = {
  none: null,
  'btree (timestamp, chain_id)': '(timestamp, chain_id)',
  'btree (timestamp desc, chain_id)': '(timestamp desc, chain_id)',
  'btree (chain_id, timestamp)': '(chain_id, timestamp)',
  'brin (timestamp)': 'using brin (timestamp) with (autosummarize)',
  'brin (updated_at)': 'using brin (updated_at) with (autosummarize)',
  'btree (transaction_hash)': '(transaction_hash)',
  'hash (transaction_hash)': 'using hash (transaction_hash)',
  'btree (entry_point_hash, timestamp)': '(entry_point_hash, timestamp)',
};

/** One page below `$1`, the height of its newest operation. */
const insertPage = `
  insert into ${table} (
    chain_id, hash, block_number, timestamp, status, address_hash, entry_point_hash,
    entry_point_version, transaction_hash, fee, page_id
  )
  select 10, '0x' || md5(i::text) || md5((-i)::text), i / 2, timestamptz '2020-01-01' + i / 2 * interval '2 seconds',
         i % 11 > 0, '0x' || lpad(to_hex((i * 7919) % 400000), 40, '0'),
         '0x0000000071727de22e5e9d8baf0edac6f37da032', 'v0.7',
         '0x' || md5((i / 2)::text) || md5((-i / 2)::text), i * 1000000000, 1
  from generate_series($1::bigint - ${pageSize - 1}, $1::bigint) as i`;

interface Cost {
  readonly pageUs: number;
  readonly walBytes: number;
  readonly rowBytes: number;
}

async function measure(client: Client, index: string | null, walks: number): Promise<Cost> {
  await client.query(`truncate ${table}`);
  if (index !== null) await client.query(`create index measured on ${table} ${index}`);
  await client.query('checkpoint');
  const wal = async () => {
    const { rows } = await client.query<{ at: string }>(
      `select pg_current_wal_lsn() - '0/0' as at`,
    );
    return Number(rows[0]?.at);
  };
  const before = await wal();
  const begun = performance.now();
  const apart = (pages / walks) * pageSize;
  for (let page = 0; page < pages / walks; page += 1) {
    for (let walk = 0; walk < walks; walk += 1) {
      await client.query({
        name: 'page',
        text: insertPage,
        values: [100_000_000 - walk * apart - page * pageSize],
      });
    }
  }
  const pageUs = ((performance.now() - begun) * 1000) / pages;
  const walBytes = ((await wal()) - before) / pages;
  const { rows } = await client.query<{ bytes: string }>(
    `select coalesce(pg_relation_size(to_regclass('explorer.measured')), 0) as bytes`,
  );
  await client.query('drop index if exists explorer.measured');
  return { pageUs, walBytes, rowBytes: Number(rows[0]?.bytes) / (pages * pageSize) };
}

async function dropOthers(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select indexrelid::regclass::text as name from pg_index
     where indrelid = $1::regclass and indexrelid::regclass::text <> all($2)`,
    [table, own.map((name) => `${table}_${name}`)],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
}

await withServer(async (server) => {
  console.log(await describeMachine(server.url));
  const drawn = new Table({
    head: ['index', 'walks', 'µs a page', 'more', 'WAL, bytes a page', 'index, bytes a row'],
    style: { head: [], border: [] },
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right'],
  });
  await server.withDatabase(async (url) => {
    await migrate(url);
    await withClient(url, async (client) => {
      await dropOthers(client);
      await client.query('set synchronous_commit = off');
      await measure(client, null, 1);
      for (const walks of [1, 8]) {
        let alone: number | null = null;
        for (const [name, index] of Object.entries(variants)) {
          const { pageUs, walBytes, rowBytes } = await measure(client, index, walks);
          alone ??= pageUs;
          const more = `${((pageUs / alone - 1) * 100).toFixed(0)} %`;
          const figures = [pageUs.toFixed(0), more, walBytes.toFixed(0), rowBytes.toFixed(1)];
          drawn.push([name, walks, ...figures]);
        }
      }
    });
  });
  console.log(drawn.toString());
});
