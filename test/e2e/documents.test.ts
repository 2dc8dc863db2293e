import { Command } from 'commander';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { commands } from '../../src/cli/program.ts';
import { stopEmbeddedPostgres } from '../../src/postgres/postgres.ts';
import { startSimulator, type SimulatedChain, type Simulator } from '../../simulator/index.ts';
import { call, configFolder, emptyFolder, eventually, startProgram } from '../harness/process.ts';
import { freshDirectory, sharedDatabase } from '../harness/database.ts';
import { schemas } from '../harness/documents.ts';
import { testKey } from '../harness/explorer.ts';
import { plainChain } from '../harness/sync.ts';

// Every call here is held against the schema of its document: see test/harness/documents.ts.

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 80,
  batches: { first: 1, count: 2, blocks: 10 },
  factories: 10,
  oddities: ['missing-hash'],
};

const config = {
  explorer: { requests_per_second: 1000, archive: 'all' },
  chains: [
    {
      id: 10,
      operations: {
        'user-operations': {},
        'optimism-batch-blocks': { from_batch: 1, to_batch: 2 },
        factories: {},
      },
    },
  ],
};

/** The commands that do something, with those of groups: `quarantine list`. */
async function leaves(): Promise<string[]> {
  const names = await Promise.all(
    commands.map(async ({ name, load }) => {
      const command = new Command(name);
      (await load()).register({ command, run: () => async () => {}, explain: () => {} });
      const inner = command.commands.map((one) => `${name} ${one.name()}`);
      return inner.length > 0 ? inner : [name];
    }),
  );
  return names.flat();
}

const database = sharedDatabase();
let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ seed: 5, chains: [chain] });
  return () => simulator.close();
});

const environment = () => ({
  DATABASE_URL: database.url,
  EXPLORER_BASE_URL: simulator.url,
  EXPLORER_API_KEY: testKey,
});

/** How each command is called here, in an order in which the later ones find something. */
const shared: Readonly<Record<string, readonly (readonly string[])[]>> = {
  migrate: [['migrate', '--roles'], ['migrate']],
  check: [['check']],
  plan: [['plan']],
  sync: [['sync']],
  backfill: [['backfill']],
  status: [['status']],
  verify: [['verify']],
  repair: [['repair']],
  query: [
    ['query', 'select * from explorer.freshness'],
    ['query', '--list'],
    ['query', 'top-senders', '--sql'],
  ],
  export: [['export', '--to', 'lake']],
  replay: [['replay']],
  'feeds list': [['feeds'], ['feeds', 'list']],
  'feeds pause': [['feeds', 'pause', '--operation', 'factories']],
  'feeds resume': [['feeds', 'resume', '--all']],
  'feeds run': [['feeds', 'run', '--all']],
  'quarantine list': [['quarantine', 'list']],
  'quarantine retry': [['quarantine', 'retry']],
  'quarantine drop': [['quarantine', 'drop', '--all']],
  'feeds reset': [['feeds', 'reset', '--all', '--yes']],
  'feeds forget': [['feeds', 'forget', '--all', '--yes']],
};
const ofOwnPlace = [
  'init',
  'simulate',
  'start',
  'open',
  'db start',
  'db stop',
  'db status',
  'db url',
];
const shares: Readonly<Record<string, string>> = {
  backfill: 'sync',
  repair: 'sync',
  ...Object.fromEntries(
    ['pause', 'resume', 'run', 'reset', 'forget'].map((name) => [`feeds-${name}`, 'feeds-changed']),
  ),
};
/** test/integration/sync/demo.test.ts; psql and a protocol have stdout for themselves. */
const elsewhere = ['demo', 'db shell', 'mcp'];

test('these tests call every command', async () => {
  expect([...Object.keys(shared), ...ofOwnPlace, ...elsewhere].toSorted()).toEqual(
    (await leaves()).toSorted(),
  );
});

test('every command but db shell and mcp has a JSON schema of its name', async () => {
  const named = (await leaves()).map((leaf) => leaf.replace(' ', '-'));
  const without = named.filter((name) => !schemas.has(shares[name] ?? name));
  expect(without).toEqual(['mcp', 'db-shell']);
});

describe('with --json there is one document on stdout', () => {
  test('of every command that works in a database', async () => {
    const cwd = await configFolder(config);
    const seen: string[] = [];
    for (const [name, ways] of Object.entries(shared)) {
      for (const args of ways) {
        const { stdout, stderr } = await call([...args, '--json'], { env: environment(), cwd });
        const { schema = `${name} has none yet` } = JSON.parse(stdout) as { schema?: string };
        expect(schema, stderr).not.toBe('explorer-etl/error/1');
        seen.push(schema);
      }
    }
    expect(seen).toEqual(
      expect.arrayContaining(['explorer-etl/query-list/1', 'explorer-etl/quarantine-list/1']),
    );
  });

  test('of init', async () => {
    const { stdout } = await call(['init', '--chain', '10', '--json'], { env: environment() });
    expect(JSON.parse(stdout)).toMatchObject({ schema: 'explorer-etl/init/1', chains: [10] });
  });

  test('of simulate and open, once they listen', async () => {
    const called = { env: environment(), signal: AbortSignal.abort() };
    for (const args of [
      ['simulate', '--port', '0'],
      ['open', '--http', '0'],
    ]) {
      const { stdout, code } = await call([...args, '--json'], called);
      expect(JSON.parse(stdout)).toMatchObject({ url: expect.stringMatching(/^http:/u) });
      expect(code).toBe(0);
    }
  });

  test('of start, at its end', async () => {
    const cwd = await configFolder(config);
    const { DATABASE_URL: databaseUrl, EXPLORER_BASE_URL: explorerUrl } = environment();
    const program = startProgram(['start', '--json'], { databaseUrl, explorerUrl, cwd });
    await eventually('start to work', async () => program.stderr.includes('start.ready'));
    expect(program.stdout).toBe('');
    program.kill('SIGTERM');
    expect(await program.ended()).toEqual({ code: 0, signal: null });
    expect(JSON.parse(program.stdout)).toMatchObject({
      schema: 'explorer-etl/start/1',
      ready_at: expect.any(String),
    });
  });

  test('of db start, status, url and stop', async () => {
    const cwd = await freshDirectory();
    onTestFinished(() => stopEmbeddedPostgres(`${cwd}/.explorer-etl`).then(() => undefined));
    const db = async (name: string) => {
      const { stdout } = await call(['db', name, '--json'], { cwd });
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    expect(await db('status')).toMatchObject({ running: false, data_directory: null });
    const started = (await db('start')) as { port: number };
    expect(started).toMatchObject({ schema: 'explorer-etl/db-start/1', running: true });
    expect(await db('status')).toEqual({ ...started, schema: 'explorer-etl/db-status/1' });
    expect((await db('url'))['url']).toMatch(new RegExp(`:${started.port}/postgres$`, 'u'));
    expect(await db('stop')).toMatchObject({ stopped: true });
    expect(await db('stop')).toMatchObject({ stopped: false });
  });
});

/** What commands have to be given. */
const required: Readonly<Record<string, readonly string[]>> = {
  query: ['select 1'],
  export: ['--to', 'lake'],
};
const wrongUse = { code: 2, reason: 'wrong-use' };

describe('a failure with --json is a document of its own, and a message on stderr', () => {
  test('every command: an unknown flag', async () => {
    for (const leaf of await leaves()) {
      const args = [...leaf.split(' '), ...(required[leaf] ?? []), '--mistyped', '--json'];
      const { stdout, stderr } = await call(args);
      expect(JSON.parse(stdout), leaf).toEqual({
        schema: 'explorer-etl/error/1',
        exit: wrongUse,
        errors: [
          {
            kind: 'usage',
            code: 'unknownOption',
            where: null,
            message: "unknown option '--mistyped'",
            hint: null,
          },
        ],
      });
      expect(stderr).toMatch(/--mistyped/u);
    }
  });

  test('every command that reads the configuration: an invalid file', async () => {
    const cwd = await configFolder({ explorer: { page_size: 'many' }, chainz: [] });
    const others = new Set(['demo', 'init', 'simulate', 'db shell', 'mcp']);
    for (const leaf of (await leaves()).filter((one) => !others.has(one))) {
      const args = [...leaf.split(' '), ...(required[leaf] ?? []), '--json'];
      const { stdout, stderr } = await call(args, { cwd });
      const { exit, errors } = JSON.parse(stdout) as { exit: object; errors: { where: string }[] };
      expect(exit).toEqual(wrongUse);
      expect(errors.length, leaf).toBeGreaterThan(1);
      expect(errors).toEqual(
        errors.map(() =>
          expect.objectContaining({
            kind: 'configuration',
            where: expect.stringMatching(/^explorer-etl\.yaml:\d+$/u),
          }),
        ),
      );
      // A line each; start logs them in one event.
      for (const { where } of errors) expect(stderr, leaf).toContain(where);
    }
  });

  test('every command that needs a database: an unreachable one, without its password', async () => {
    const url = 'postgres://somebody:s3cretly@127.0.0.1:1/none';
    const cwd = await configFolder(config);
    // start waits for a database, and db is of the embedded one.
    const needing = Object.keys(shared).filter((leaf) => leaf !== 'check');
    for (const leaf of needing) {
      const [args = []] = shared[leaf] ?? [];
      const { stdout, stderr } = await call([...args, '--json', '--database-url', url], {
        env: { EXPLORER_API_KEY: testKey, EXPLORER_BASE_URL: 'http://127.0.0.1:1' },
        cwd,
      });
      expect(JSON.parse(stdout), leaf).toMatchObject({
        exit: wrongUse,
        errors: [
          {
            kind: 'database-unavailable',
            code: 'ECONNREFUSED',
            hint: 'Check --database-url, and the log and disk of its server.',
          },
        ],
      });
      expect(stdout + stderr).not.toMatch(/s3cretly/u);
      expect(stdout).not.toContain(testKey);
    }
  });

  test.each([
    ['no command', ['--json'], { kind: 'usage', code: 'help' }],
    ['a group without a command', ['db', '--json'], { kind: 'usage', code: 'help' }],
    ['an unknown command', ['sink', '--json'], { code: 'unknownCommand' }],
    [
      'a near miss',
      ['query', '--lits', '--json'],
      { code: 'unknownOption', hint: 'Did you mean --list?' },
    ],
    [
      'a wrong flag before --json',
      ['--log-level', 'loud', 'status', '--json'],
      { kind: 'usage', code: 'invalidArgument' },
    ],
    ['a statement that writes', ['query', 'drop table x', '--json'], { kind: 'statement' }],
    ['psql', ['db', 'shell', '--json'], { kind: 'usage' }],
    ['a protocol', ['mcp', '--json'], { kind: 'usage' }],
  ])('%s', async (_, args, error) => {
    const { stdout } = await call(args, { env: { DATABASE_URL: database.url } });
    expect(JSON.parse(stdout)).toMatchObject({ exit: wrongUse, errors: [error] });
  });

  test('hints name the program as it was called', async () => {
    const { stdout } = await call(['query', '--json'], { program: 'npx explorer-etl' });
    expect(stdout).toContain('npx explorer-etl query --list');
  });

  test.each([
    ['while a query waits', ['query', 'select 1', '--json']],
    ['between two requests', ['check', '--chain', '10', '--json']],
  ])('a signal %s', async (_, args) => {
    const { stdout } = await call(args, {
      env: { DATABASE_URL: database.url, EXPLORER_API_KEY: 'a-key' },
      signal: AbortSignal.abort(),
    });
    expect(JSON.parse(stdout)).toMatchObject({
      exit: { code: 130, reason: 'interrupted' },
      errors: [{ kind: 'interrupted' }],
    });
  });

  test('without --json, or with it after --, stdout is empty', async () => {
    expect((await call(['sync', '--mistyped', '--', '--json'])).stdout).toBe('');
    expect((await call(['sync', '--mistyped'], { cwd: await emptyFolder() })).stdout).toBe('');
  });
});
