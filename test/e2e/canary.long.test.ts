import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { expect, test, vi } from 'vitest';
import { alterPage, type SimulatedChain } from '../../simulator/index.ts';
import { packBody } from '../../src/sync/archive.ts';
import { freshDatabase } from '../harness/database.ts';
import { answered, type ServedPage, simulated } from '../harness/explorer.ts';
import { command, emptyFolder, type Ended, hangMs } from '../harness/process.ts';
import { plainChain } from '../harness/sync.ts';
import { apiKey, leaks, otherKey, secretKey, storedLeaks, watchStatements } from './canary.ts';

const chain: SimulatedChain = {
  ...plainChain,
  family: 'arbitrum',
  generation: 'v11',
  userOperations: 230,
  batches: { first: 1, count: 3, blocks: 60 },
  factories: 120,
  oddities: ['echo-key', 'missing-hash'],
};
const otherChain = { ...chain, id: 8453, name: 'base', userOperations: 120, factories: 0 };

/** As services do that are proud of their links: items repeat the request, its keys and its URL. */
function echoInItems(page: ServedPage, url: URL): ServedPage {
  const [key, secret] = [url.searchParams.get('apikey'), url.searchParams.get('key')];
  page.items.forEach((item, index) => {
    item['self'] = { key, secret, url: url.href, again: encodeURIComponent(url.href) };
    // A field of a name that nobody knows, and an item that is none.
    item[`of ${key}`] = url.search;
    if (index === 1) item['hash'] = `${key} ${secret}`;
    // A value that nobody knows.
    const address = item['address'] ?? item['miner'];
    if (typeof address === 'object') Object.assign(address ?? {}, { name: key, proxy_type: key });
  });
  return page;
}

const config = `explorer:
  archive: all
  requests_per_second: 1000
  keys:
    base: { env: EXPLORER_API_KEY_BASE }
chains:
  - id: 10
    operations:
      user-operations:
      factories:
      optimism-batch-blocks:
        to_batch: 3
  - id: 8453
    key: base
    operations:
      user-operations:
`;
const debug = ['--log-level', 'debug'];
const feeds = ['--chain', '10', '--operation', 'user-operations', '--operation', 'factories'];

/** A command that has ended. */
interface Run extends Ended {
  readonly name: string;
}

async function startWorld() {
  const explorer = await simulated({
    seed: 3,
    chains: [chain, otherChain],
    apiKey: [apiKey, otherKey],
    secretKey,
    faults: () => alterPage((page, url) => echoInItems(page as ServedPage, url)),
  });
  const database = await freshDatabase('empty');
  const cwd = await emptyFolder();
  const ended: Run[] = [];
  /** How log lines look: for people, or for programs. */
  const log: { format: 'json' | 'pretty' } = { format: 'json' };
  /** Runs a command. @returns its exit code */
  const run = async (
    args: readonly string[],
    env: Record<string, string> = {},
    until?: (output: () => string, pid: number) => Promise<unknown>,
  ) => {
    const end = await command([...debug, '--log-format', log.format, ...args], {
      cwd,
      env: {
        EXPLORER_API_KEY: apiKey,
        EXPLORER_API_KEY_BASE: otherKey,
        EXPLORER_SECRET_KEY: secretKey,
        EXPLORER_BASE_URL: explorer.url,
        DATABASE_URL: database.url,
        ...env,
      },
      ...(until !== undefined && { until }),
    });
    const name = args.join(' ');
    ended.push({ ...end, name });
    return `${name}: ${end.code}`;
  };
  return { database, cwd, log, run, ended };
}

type RunCommand = Awaited<ReturnType<typeof startWorld>>['run'];

/** Until each of the four feeds has succeeded. */
async function untilCopied(pool: Pool): Promise<void> {
  await vi.waitFor(
    async () => {
      const { rows } = await pool.query('select from etl.feeds where last_success_at is not null');
      expect(rows).toHaveLength(4);
    },
    { timeout: hangMs, interval: 200 },
  );
}

/** What any user of the machine sees of a process, where it is a Linux. */
async function shownOf(pid: number): Promise<string> {
  const files = ['cmdline', 'comm', 'status'].map((name) => `/proc/${pid}/${name}`);
  const texts = await Promise.all(files.filter(existsSync).map((file) => readFile(file, 'utf8')));
  return texts.join('\n').replaceAll('\0', ' ');
}

/** A service that is none: each of its answers repeats the request's URL, key and all. */
function startEcho(status: number, body: (url: string) => string): Promise<string> {
  return answered(({ pathname, search }) => {
    const requested = pathname + search;
    const text = body(`${requested} ${decodeURIComponent(requested.replaceAll('+', ' '))}`);
    return { status, headers: { 'x-echo': 'x' }, body: text };
  });
}

const wrong = { EXPLORER_API_KEY: `${apiKey}-wrong`, EXPLORER_API_KEY_BASE: `${otherKey}-wrong` };

/** How a service answers that repeats the request's URL, from no error to all that it may say. */
const echoes = [
  [200, (url) => `no JSON: ${url}`],
  [200, (url) => JSON.stringify({ items: [url], next_page_params: { [url]: url } })],
  [422, (url) => JSON.stringify({ errors: [{ title: url, detail: url }] })],
  [500, (url) => `<html><title>${url}</title>`],
] satisfies [number, (url: string) => string][];

/** Commands to which the service, or nobody, answers what it should. */
async function runRefused(run: RunCommand, answers: typeof echoes): Promise<void> {
  expect(await run(['sync', '--same-data'], wrong)).toMatch(/: 1$/);
  // One explorer after the other, and some of them leave a page.
  const sync = ['sync', '--same-data', ...feeds];
  for (const [status, body] of answers) {
    const echo = await startEcho(status, body);
    expect(await run(sync, { EXPLORER_BASE_URL: echo })).toMatch(/: 1$/);
  }
}

/** Commands whose database is not there; its password is one of the secrets. */
async function runAway(run: RunCommand): Promise<void> {
  const env = { DATABASE_URL: `postgres://reader:${encodeURIComponent(apiKey)}@127.0.0.1:1/etl` };
  expect(await run(['status'], env)).toBe('status: 2');
  await run(['start'], env, (output) =>
    vi.waitFor(() => expect(output()).toContain('database.away'), { timeout: hangMs }),
  );
}

/** A start that meets answers which repeat what was requested, and says so. */
async function untilFailed(run: RunCommand, pool: Pool): Promise<void> {
  const echo = await startEcho(422, (url) =>
    JSON.stringify({ errors: [{ title: url, detail: url }] }),
  );
  await pool.query('update etl.feeds set poll_again_at = null');
  await run(['start', '--same-data'], { EXPLORER_BASE_URL: echo }, (output) =>
    vi.waitFor(() => expect(output()).toContain('feed.failed'), { timeout: hangMs }),
  );
}

test('no output, table or statement holds a secret, whatever command runs', async () => {
  const { database, cwd, log, run, ended } = await startWorld();
  const statements = watchStatements(database.pool);
  expect(await run(['init', '--chain', '10'])).toMatch(/: 0$/);
  await writeFile(join(cwd, 'explorer-etl.yaml'), config);
  for (const args of [['migrate'], ['check'], ['plan'], ['plan', '--json']]) {
    expect(await run(args)).toBe(`${args.join(' ')}: 0`);
  }
  expect(await run(['check'], wrong)).toBe('check: 1');
  // What is said goes through one function to both formats: one has all that can be said.
  for (const [format, answers] of [
    ['pretty', echoes.slice(2, 3)],
    ['json', echoes],
  ] as const) {
    log.format = format;
    await runRefused(run, answers);
    await untilFailed(run, database.pool);
  }
  await runAway(run);
  expect(
    await run(['sync', '--same-data', ...feeds], { EXPLORER_BASE_URL: 'http://127.0.0.1:1' }),
  ).toMatch(/: 1$/);
  await database.query('truncate etl.runs, etl.walks, etl.pages, etl.raw_pages cascade');
  expect(await run(['plan'])).toBe('plan: 0');
  const shown: string[] = [];
  await run(['start'], {}, async (_output, pid) => {
    shown.push(await shownOf(pid));
    await untilCopied(database.pool);
    shown.push(await shownOf(pid));
  });
  for (const [code, ...args] of [
    [0, 'sync'],
    [0, 'backfill'],
    [0, 'backfill', '--again', '--operation', 'user-operations'],
    [1, 'repair'],
    [0, 'status'],
    [0, 'status', '--json'],
    [1, 'verify'],
    [1, 'verify', '--json'],
    [0, 'quarantine', 'list'],
    [0, 'quarantine', 'list', '--json'],
    [1, 'quarantine', 'retry'],
    [1, 'quarantine', 'retry', '--json'],
  ] as const) {
    expect(await run(args)).toBe(`${args.join(' ')}: ${code}`);
  }
  expect(await kept(database.pool)).toEqual({ quarantined: true, drift: true, archived: true });
  await database.query(`update explorer.addresses set name = 'changed', extra = null`);
  for (const [code, ...args] of [
    [0, 'replay'],
    [0, 'replay', '--json'],
    [0, 'migrate', '--roles'],
  ] as const) {
    expect(await run(args)).toBe(`${args.join(' ')}: ${code}`);
  }
  expect(ended.flatMap(leaksOf)).toEqual([]);
  expect((await statements.stop()).flatMap(leaks)).toEqual([]);
  expect(shown.flatMap(leaks)).toEqual([]);
  expect(await storedLeaks(database.pool)).toEqual([]);
  expect(await run(['quarantine', 'drop', '--all'])).toMatch(/: 0$/);
  expect(ended.flatMap(leaksOf)).toEqual([]);
});

const leaksOf = ({ name, stdout, stderr }: Run) =>
  leaks(stdout + stderr).map((form) => `${name}: ${form}`);

/** Whether what items echoed had a place to be kept in. */
async function kept(pool: Pool): Promise<unknown> {
  const { rows } = await pool.query(`
    select exists (select from etl.quarantine where raw ->> 'hash' like '***%') as quarantined,
           exists (select from etl.drift where kind = 'value' and detail = '***') as drift,
           exists (select from etl.raw_pages) as archived`);
  return rows[0];
}

test('simulate prints no API key that a request contains', async () => {
  const { run, ended } = await startWorld();
  const simulate = ['simulate', '--port', '0', '--fault', '503=0.5', '--fault', 'redirect=0.5'];
  await run(simulate, {}, async (output) => {
    const url = await vi.waitFor(
      () => {
        const [found] = /http:\S+/u.exec(output()) ?? [];
        if (found === undefined) throw new Error('it does not listen yet');
        return found;
      },
      { timeout: hangMs },
    );
    const env = { EXPLORER_BASE_URL: url };
    expect(await run(['sync', ...feeds, '--max-pages', '1'], env)).toMatch(/: 1$/);
  });
  expect(ended.flatMap(leaksOf)).toEqual([]);
});

test('the search for secrets finds one in any column of any schema, and in a compressed body', async () => {
  const { pool } = await freshDatabase();
  await pool.query(`
    create table public.things (a jsonb, b bytea, c text[]);
    alter table etl.raw_pages drop constraint raw_pages_page_id_pages_id_fk`);
  const base64 = Buffer.from(`x?key=${secretKey}&`).toString('base64');
  const bodies = [`{"items":[{"a":"${otherKey}"}]}`, String.raw`{"\u0063anaryB$8":1}`];
  const packed = await Promise.all(bodies.map((body) => packBody(Buffer.from(body))));
  const inThings = 'insert into public.things values ($1, $2, $3)';
  const inArchive = `insert into etl.raw_pages (page_id, body) values (1, $1)`;
  for (const [statement, values] of [
    [inThings, [{ deep: [apiKey] }, null, null]],
    [inThings, [null, Buffer.from(secretKey), null]],
    [inThings, [null, null, [encodeURIComponent(apiKey)]]],
    [inThings, [null, null, [base64]]],
    ...packed.map((body) => [inArchive, [body]] as const),
  ] as const) {
    await pool.query('truncate public.things, etl.raw_pages');
    await pool.query(statement, [...values]);
    expect(await storedLeaks(pool)).not.toEqual([]);
  }
});
