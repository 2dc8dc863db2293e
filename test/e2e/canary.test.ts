import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import type { Pool } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createPool } from '../../src/db/pool.ts';
import { startSimulator, type SimulatedChain } from '../../src/simulator/index.ts';
import { command, emptyFolder, type Ended } from '../support/child.ts';
import { freshDatabase } from '../support/database.ts';

/** Characters that URLs, JSON and base64 each write in another way. */
const apiKey = 'canaryA+7Qx/w Z=9%"é';
const secretKey = 'canaryS~4Kd&m?Y#2\\ü';

const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'arbitrum',
  generation: 'v11',
  userOperations: 230,
  batches: { first: 1, count: 3, blocks: 60 },
  factories: 120,
  oddities: ['echo-key', 'missing-hash'],
};

/** Fifteen commands one after the other, on a slow machine, in ms. */
const longestMs = 300_000;
/** How often the sessions' statements are looked at, in ms. */
const lookMs = 20;
/** How long a feed may take to be copied, in ms. */
const copiedMs = 30_000;

/** Every way in which something could have written a secret. */
const forms = [apiKey, secretKey].flatMap((secret) => {
  const bytes = Buffer.from(secret);
  const percent = encodeURIComponent(secret);
  const query = new URLSearchParams({ x: secret }).toString().slice(2);
  // Base64 depends on where in a group of three bytes the secret begins; its ends on neighbours.
  const base64 = ['', 'x', 'xx'].map((before) =>
    Buffer.from(before + secret)
      .toString('base64')
      .slice(4, -4),
  );
  const plain = [secret, JSON.stringify(secret).slice(1, -1), percent, query, secret.slice(0, 8)];
  return [
    ...plain,
    ...[percent, query].map((text) => text.replaceAll(/%../g, (code) => code.toLowerCase())),
    encodeURIComponent(percent),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    bytes.toString('hex'),
  ];
});

const leaks = (text: string) => forms.filter((form) => text.includes(form));

/** `table: form` for every table, of every schema, that holds a form of a secret in some row. */
async function storedLeaks(pool: Pool): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind in ('r', 'p', 'm')
       and nspname not in ('information_schema', 'pg_catalog', 'pg_toast')`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ form: string }>(
      `select distinct form
       from ${name} as t, unnest($1::text[]) as form
       where strpos(t::text, form) > 0 or strpos(to_json(t)::text, form) > 0`,
      [forms],
    );
    found.push(...rows.map(({ form }) => `${name}: ${form}`));
  }
  return found;
}

/** Looks at what every session of the database runs or ran last, until stopped. */
function watchStatements(url: string): { stop(): Promise<string[]> } {
  const pool = createPool({ url, max: 1, applicationName: 'the watcher' });
  const stopping = new AbortController();
  const seen = new Set<string>();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      const { rows } = await pool.query<{ text: string }>(
        `select concat_ws(' ', application_name, query) as text from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      );
      for (const { text } of rows) seen.add(text);
      await delay(lookMs);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await watching;
      await pool.end();
      return [...seen];
    },
  };
}

/** A service that is none: each of its answers repeats the request's URL, key and all. */
async function startEcho(status: number, body: (url: string) => string): Promise<string> {
  const server = createServer((request, response) => {
    const url = `${request.url} ${decodeURIComponent((request.url ?? '').replaceAll('+', ' '))}`;
    response.writeHead(status, { 'x-echo': 'x' }).end(body(url));
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const config = `chains:
  - id: 10
    operations:
      user-operations:
      factories:
      optimism-batch-blocks:
        to_batch: 3
`;
const debug = ['--log-level', 'debug'];
const feeds = ['--chain', '10', '--operation', 'user-operations', '--operation', 'factories'];

async function startWorld() {
  const simulator = await startSimulator({ seed: 3, chains: [chain], apiKey, secretKey });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase('empty');
  const cwd = await emptyFolder();
  const run = (
    args: readonly string[],
    env: Record<string, string> = {},
    until?: () => Promise<unknown>,
  ) =>
    command([...debug, ...args], {
      cwd,
      env: {
        EXPLORER_API_KEY: apiKey,
        EXPLORER_SECRET_KEY: secretKey,
        EXPLORER_BASE_URL: simulator.url,
        DATABASE_URL: database.url,
        ...env,
      },
      ...(until !== undefined && { until }),
    });
  return { database, cwd, run };
}

/** Until each of the three feeds has succeeded. */
async function untilCopied(pool: Pool): Promise<void> {
  await vi.waitFor(
    async () => {
      const { rows } = await pool.query('select from etl.feeds where last_success_at is not null');
      expect(rows).toHaveLength(3);
    },
    { timeout: copiedMs, interval: 200 },
  );
}

test(
  'secrets are in no output, in no table and in no statement, whatever is run',
  { timeout: longestMs },
  async () => {
    const { database, cwd, run } = await startWorld();
    const statements = watchStatements(database.url);
    const ended: Ended[] = [];
    ended.push(await run(['init', '--chain', '10']));
    ended.push(await run(['migrate']));
    ended.push(await run(['check']));
    const wrong = { EXPLORER_API_KEY: `${apiKey}-wrong` };
    ended.push(await run(['check'], wrong));
    ended.push(await run(['sync', ...feeds], wrong));
    ended.push(await run(['sync', ...feeds], { EXPLORER_BASE_URL: 'http://127.0.0.1:1' }));
    for (const [status, body] of [
      [200, (url) => `no JSON: ${url}`],
      [200, (url) => JSON.stringify({ items: [], next_page_params: { key: url, page_token: 1 } })],
      [422, (url) => JSON.stringify({ errors: [{ title: url, detail: url }] })],
      [500, (url) => `<html><title>${url}</title>`],
    ] satisfies [number, (url: string) => string][]) {
      const echo = await startEcho(status, body);
      ended.push(await run(['sync', ...feeds], { EXPLORER_BASE_URL: echo }));
    }
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 1, 1]);
    await writeFile(join(cwd, 'explorer-etl.yaml'), config);
    ended.push(await run(['start'], {}, () => untilCopied(database.pool)));
    ended.push(await run(['sync']), await run(['status']), await run(['status', '--json']));
    expect(ended.slice(-4).map(({ code }) => code)).toEqual([0, 0, 0, 0]);

    expect(ended.flatMap(({ stdout, stderr }) => leaks(stdout + stderr))).toEqual([]);
    expect((await statements.stop()).flatMap(leaks)).toEqual([]);
    expect(await storedLeaks(database.pool)).toEqual([]);
  },
);

test('the search finds a secret in any column of any schema', async () => {
  const { pool } = await freshDatabase();
  await pool.query('create schema elsewhere');
  await pool.query('create table elsewhere.things (a jsonb, b bytea, c text[])');
  const hidden: unknown[][] = [
    [{ deep: [apiKey] }, null, null],
    [null, Buffer.from(secretKey), null],
    [null, null, [encodeURIComponent(apiKey)]],
    [null, null, [Buffer.from(`x?key=${secretKey}&`).toString('base64')]],
  ];
  for (const row of hidden) {
    await pool.query('truncate elsewhere.things');
    await pool.query('insert into elsewhere.things values ($1, $2, $3)', row);
    expect(await storedLeaks(pool)).not.toEqual([]);
  }
});
