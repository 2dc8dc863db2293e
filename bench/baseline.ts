import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from, to } from 'pg-copy-streams';
import { request } from 'undici';
import { withClient } from '../test/harness/client.ts';
import { apiKey, chainOf, pageSize } from './explorer.ts';

export interface CopyBaseline {
  readonly seconds: number;
  /** Of all tables. */
  readonly rows: number;
}

/**
 * The least that writing can cost: COPY of the rows that a sync left in schema `explorer` into
 * empty twins of their tables, with all keys and indexes, over one connection.
 */
export async function measureCopy(databaseUrl: string): Promise<CopyBaseline> {
  return withClient(databaseUrl, async (client) => {
    await client.query('create schema baseline');
    const { rows: tables } = await client.query<{ name: string }>(
      `select table_name as name from information_schema.tables
        where table_schema = 'explorer' and table_type = 'BASE TABLE' order by name`,
    );
    const dumps = new Map<string, Buffer[]>();
    for (const { name } of tables) {
      await client.query(`create table baseline.${name} (like explorer.${name} including all)`);
      dumps.set(name, await dump(client, name));
    }
    await client.query('checkpoint');
    let rows = 0;
    const started = performance.now();
    for (const [name, chunks] of dumps) {
      const copy = client.query(from(`copy baseline.${name} from stdin`));
      await pipeline(Readable.from(chunks), copy);
      rows += copy.rowCount ?? 0;
    }
    return { seconds: (performance.now() - started) / 1000, rows };
  });
}

async function dump(client: Client, table: string): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of client.query(to(`copy explorer.${table} to stdout`))) {
    chunks.push(chunk as Buffer);
  }
  return chunks;
}

/**
 * The least that reading can cost: the pages of the list one after the other, each requested as
 * soon as the cursor before it is parsed, and thrown away. In seconds.
 */
export async function measureBareRead(explorerUrl: string, pages: number): Promise<number> {
  const url = new URL(`/${chainOf(0).id}/api/v2/proxy/account-abstraction/operations`, explorerUrl);
  url.searchParams.set('apikey', apiKey);
  url.searchParams.set('page_size', String(pageSize));
  const started = performance.now();
  for (let page = 0; page < pages; page += 1) {
    const { body } = await request(url);
    const { next_page_params: next } = (await body.json()) as {
      next_page_params: { page_token: string } | null;
    };
    if (next === null) break;
    url.searchParams.set('page_token', next.page_token);
  }
  return (performance.now() - started) / 1000;
}
