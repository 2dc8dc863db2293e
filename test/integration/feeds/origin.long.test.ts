import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEngine, prepareDatabase } from '../../../src/app.ts';
import { loadSettings } from '../../../src/config/load.ts';
import { createLog } from '../../../src/log.ts';
import { advance } from '../../../src/sync/advance.ts';
import { originOf } from '../../../src/sync/feeds.ts';
import { simulated, testKey } from '../../harness/explorer.ts';
import { call, configFolder } from '../../harness/process.ts';
import { freshDatabase, opened } from '../../harness/database.ts';
import { plainChain } from '../../harness/sync.ts';
import { openRun } from '../../harness/runs.ts';

const chain = { ...plainChain, userOperations: 120, factories: 30 };
/** Nobody listens there. */
const unreachable = 'http://127.0.0.1:1';
const lane = { chain_id: 10, operation: 'factories', lane: 'backfill' } as const;

async function explorerOf(seed: number) {
  const other = { ...chain, id: 20 };
  const simulator = await simulated({ seed, chains: [chain, other] });
  return simulator;
}

/** A database, and two explorers that say different things of the same chains, or the same. */
async function world(seeds: readonly [number, number] = [1, 2]) {
  const [first, second] = [await explorerOf(seeds[0]), await explorerOf(seeds[1])];
  const database = await freshDatabase();
  const { query } = database;
  const run = async (url: string, ...args: readonly string[]) => {
    const before = first.requests + second.requests;
    const ended = await call([...args, '--quiet', '--log-level', 'silent'], {
      env: { DATABASE_URL: database.url, EXPLORER_BASE_URL: url, EXPLORER_API_KEY: testKey },
    });
    return { ...ended, requests: first.requests + second.requests - before };
  };
  /** What a process has open on the database, with an explorer of its own. */
  const engineOn = async (baseUrl: string, source = {}) => {
    const open = opened(database);
    await prepareDatabase(open);
    const env = { EXPLORER_BASE_URL: baseUrl, EXPLORER_API_KEY: testKey };
    const settings = loadSettings({ cwd: '/', env, chains: ['10'], operations: ['factories'] });
    const log = createLog('silent', () => undefined);
    const engine = await openEngine({ settings, database: open, log, source });
    onTestFinished(() => engine.close());
    return { engine, settings };
  };
  return { first, second, run, query, engineOn };
}

const factories = ['--chain', '10', '--operation', 'factories'];

test('data of another explorer is refused before any request, with what to do', async () => {
  const { first, second, run, query } = await world();
  expect((await run(first.url, 'sync', ...factories)).code).toBe(0);
  const rows = 'select * from explorer.factories order by 1, 2';
  const before = await query(rows);

  const refused = await run(second.url, 'sync', '--chain', '10');

  expect(refused).toEqual({
    code: 2,
    stdout: '',
    stderr: `explorer-etl: the data of 10/factories came from ${first.url}; the explorer is now ${second.url}. Set EXPLORER_BASE_URL or explorer.base_url as it was, use another database, or say with --same-data, once, that both serve the same chains.\n`,
    requests: 0,
  });
  expect(await query(rows)).toEqual(before);
  expect((await run(first.url, 'verify')).code).toBe(0);
});

test('the rows of a feed that was reset are still those of its explorer', async () => {
  const { first, second, run } = await world();
  await run(first.url, 'sync', ...factories);
  expect((await run(first.url, 'feeds', 'reset', ...factories, '--yes')).code).toBe(0);

  expect(await run(second.url, 'sync', ...factories)).toMatchObject({
    code: 2,
    requests: 0,
    stderr: expect.stringMatching(/the data of 10\/factories came from .*--same-data/u),
  });

  expect((await run(first.url, 'sync', ...factories)).code).toBe(0);
  expect((await run(first.url, 'feeds', 'forget', ...factories, '--yes')).code).toBe(0);
  expect((await run(unreachable, 'sync', ...factories)).code).toBe(1);
  expect((await run(first.url, 'sync', ...factories)).code).toBe(0);
});

test.each(['backfill', 'repair', 'start'])('%s is refused too', async (command) => {
  const { first, second, run } = await world();
  const operations = ['--operation', 'user-operations', '--max-pages', '1'];
  await run(first.url, 'sync', '--chain', '10', ...operations);
  const chosen = command === 'start' ? [] : ['--chain', '10'];
  const config = await configFolder({ chains: [{ id: 10 }] });
  const args = [command, ...chosen, '--config', join(config, 'explorer-etl.yaml')];

  expect(await run(second.url, ...args)).toMatchObject({
    code: 2,
    requests: 0,
    stderr: expect.stringMatching(/the data of 10\/user-operations came from .*--same-data/u),
  });
});

test("with --same-data, the feed's origin becomes the other explorer", async () => {
  const { first, second, run, query } = await world([1, 1]);
  await run(first.url, 'sync', ...factories);

  const accepted = await run(second.url, 'sync', ...factories, '--same-data');

  expect(accepted.code).toBe(0);
  expect(accepted.requests).toBeGreaterThan(0);
  expect(await query('select origin from etl.feeds')).toEqual([{ origin: second.url }]);
  expect((await run(second.url, 'sync', ...factories)).code).toBe(0);
  expect((await run(first.url, 'sync', ...factories)).code).toBe(2);
});

test('an explorer that never answered is no origin, and another chain may use another explorer', async () => {
  const { first, second, run } = await world();
  expect((await run(unreachable, 'sync', ...factories)).code).toBe(1);
  expect((await run(first.url, 'sync', ...factories)).code).toBe(0);

  const other = ['--chain', '20', '--operation', 'factories'];
  expect((await run(second.url, 'sync', ...other)).code).toBe(0);
});

test('an origin is scheme, host and path, and nothing else', () => {
  expect(originOf('https://api.blockscout.com')).toBe('https://api.blockscout.com');
  expect(originOf('HTTPS://Me:secret@Example.com:443/a/b/?apikey=secret#x')).toBe(
    'https://example.com/a/b',
  );
  expect(originOf('http://127.0.0.1:8545/')).toBe('http://127.0.0.1:8545');
});

test('an origin with a name of its own may change its URL', async () => {
  const { first, second, run, engineOn } = await world([1, 1]);
  await engineOn(first.url, { origin: 'a demo' });
  await run(first.url, 'sync', ...factories, '--same-data');
  await engineOn(second.url, { origin: 'a demo', sameData: true });

  await engineOn(first.url, { origin: 'a demo' });

  await expect(engineOn(first.url)).rejects.toThrow(/came from a demo/u);
});

test("a process sends no request once another explorer has become the feed's origin", async () => {
  const { first, second, run, engineOn } = await world();
  await run(first.url, 'sync', ...factories);
  const { engine } = await engineOn(first.url);
  await openRun(engine.db, lane, {});
  await engineOn(second.url, { sameData: true });
  const before = first.requests;

  const budget = { spent: false, takePage: () => true };
  const outcome = await advance(lane, budget, engine, new AbortController().signal);

  expect(outcome.is).toBe('source-mismatch');
  expect(first.requests).toBe(before);
});
