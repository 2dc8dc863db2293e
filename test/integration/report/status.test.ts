import { expect, onTestFinished, test } from 'vitest';
import type { StatusDocument } from '../../../src/documents/status.ts';
import { startSimulator, type Fault, type SimulatedChain } from '../../../simulator/index.ts';
import { call } from '../../harness/call.ts';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { configFolder, eventually, startProgram } from '../../harness/process.ts';
import { hangMs } from '../../harness/hang.ts';
import { runSync } from '../../harness/sync.ts';

const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 120,
  batches: { first: 1, count: 3, blocks: 20 },
  factories: 20,
};

interface SceneOptions {
  readonly fault?: Fault | null;
  readonly latencyMs?: number;
  readonly changes?: Partial<SimulatedChain>;
}

/** A database, an explorer that answers, and what `status` says. */
async function scene({ fault = null, latencyMs = 0, changes = {} }: SceneOptions = {}) {
  const chains = [{ ...chain, ...changes }];
  const simulator = await startSimulator({ seed: 6, chains, latencyMs, faults: () => fault });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  return { chains, simulator, database, ...looking(database) };
}

function looking(database: Pick<TestDatabase, 'url'>) {
  const options = { env: { DATABASE_URL: database.url } };
  const text = async (columns = 80) => (await call(['status'], { ...options, columns })).stdout;
  const document = async () => {
    const { stdout, stderr } = await call(['status', '--json'], options);
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as StatusDocument;
  };
  const kinds = async () => {
    const { verdict } = await document();
    return [verdict.kind, ...verdict.reasons.map(({ kind }) => kind)];
  };
  return { text, document, kinds };
}

/** A chain whose newest items are of the last hours, as those of a live chain are. */
const lately = () => ({ startsAtMs: Date.now() - 2 * 3_600_000 });

/** A copy that is whole. */
async function copied(changes: Partial<SimulatedChain> = lately()) {
  const made = await scene({ changes });
  await runSync(made.database, { url: made.simulator.url, chains: made.chains });
  return made;
}

test('nothing was ever read', async () => {
  const { kinds, text } = await scene();
  expect(await kinds()).toEqual(['never-read', 'never-read']);
  expect(await text()).toBe(
    '● never read: nothing is stored yet\n  no worker\n\n    explorer-etl sync\n',
  );
});

test('a copy that sync made is healthy while it is a day old, whoever works', async () => {
  const { kinds, document, database, text } = await copied();
  expect(await kinds()).toEqual(['healthy']);
  const { feeds, workers } = await document();
  expect(workers).toEqual({ start: 0, once: 0 });
  expect(feeds.map(({ operation, state, proved: { share } }) => [operation, state, share])).toEqual(
    [
      ['user-operations', 'current', 1],
      ['optimism-batch-blocks', 'done', 1],
      ['factories', 'current', 1],
    ],
  );
  expect(await text()).toContain('● healthy\n  no worker · ');

  await database.pool.query(`update etl.runs set opened_at = opened_at - interval '3 days'`);
  await database.pool.query(
    `update etl.lane_totals set last_page_at = last_page_at - interval '3 days'`,
  );
  const [kind, first, ...others] = await kinds();
  expect([kind, first]).toEqual(['stopped', 'nobody-works']);
  expect(new Set(others)).toEqual(new Set(['late']));
  expect(await text()).toMatch(/^● stopped: nobody is working; last page 3d/u);
});

test('a source that has stopped is degraded, however recent the last look', async () => {
  const threeYears = 3 * 365 * 86_400_000;
  const { kinds, document, text } = await copied({ startsAtMs: Date.now() - threeYears });
  expect(await kinds()).toEqual(['degraded', 'stale']);
  const { feeds } = await document();
  expect(feeds.map(({ operation, state }) => [operation, state])).toEqual([
    ['user-operations', 'stale'],
    // Bounded, or in no order of time.
    ['optimism-batch-blocks', 'done'],
    ['factories', 'current'],
  ]);
  expect(feeds[0]?.data).toMatchObject({ is_met: false, limit_s: 21_600 });
  expect(await text()).toMatch(
    /^● degraded: 10\/user-operations: no new items for (2y 364d|3y)[^;]*; usually one every \d+s\n/u,
  );
});

test.each(['2099-01-01T00:00:00Z', '1970-01-01T00:00:00Z'])(
  'a newest item of %s alone changes no verdict',
  async (wrong) => {
    const wronged = async (changes?: Partial<SimulatedChain>) => {
      const made = await copied(changes);
      await made.database.pool.query(
        `update explorer.user_operations set timestamp = $1
         where hash = (select hash from explorer.user_operations order by block_number desc, hash desc limit 1)`,
        [wrong],
      );
      return made.kinds();
    };
    expect(await wronged()).toEqual(['healthy']);
    expect(await wronged({ startsAtMs: Date.now() - 30 * 86_400_000 })).toEqual([
      'degraded',
      'stale',
    ]);
  },
);

test('a bounded range of old batches is not stale, even if one of them is missing', async () => {
  const old = { batches: { first: 1, count: 60, blocks: 20 }, userOperations: 0 };
  const { kinds, database } = await copied({ ...old, startsAtMs: Date.now() - 30 * 86_400_000 });
  await database.pool.query('delete from explorer.read_batches where batch_number = 30');
  expect(await kinds()).toEqual(['behind', 'gap']);
});

test('batches that are followed are stale if none comes', async () => {
  const chains = [
    {
      ...chain,
      userOperations: 0,
      batches: { first: 1, count: 60, blocks: 20 },
      startsAtMs: Date.now() - 30 * 86_400_000,
    },
  ];
  const simulator = await startSimulator({ seed: 6, chains });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const operations = ['optimism-batches', 'optimism-batch-blocks'];
  await runSync(database, { url: simulator.url, chains, operations, isRangeGiven: false });
  const { verdict } = await looking(database).document();
  expect(verdict).toMatchObject({
    kind: 'degraded',
    reasons: operations.map((operation) => ({
      kind: 'stale',
      feed: `10/${operation}`,
      unit: 'batches',
    })),
  });
});

test('a chain whose row is gone hides none of its feeds', async () => {
  const { document, database } = await copied();
  await database.pool.query('delete from explorer.chains');
  const { feeds } = await document();
  expect(feeds.map(({ operation, chain_name }) => [operation, chain_name])).toEqual([
    ['user-operations', 'chain-10'],
    ['optimism-batch-blocks', 'chain-10'],
    ['factories', 'chain-10'],
  ]);
});

test.each<[what: string, statement: string, kind: string, reason: string]>([
  ['a feed that nothing proves', `delete from etl.rankings`, 'behind', 'unproved'],
  [
    'a hole in a list',
    `update etl.lane_totals set proved = proved - (
       select int8multirange(int8range(min(block_number) + 2, max(block_number) - 2))
       from explorer.user_operations
     )`,
    'behind',
    'gap',
  ],
  [
    'a batch that was not read',
    `delete from explorer.read_batches where batch_number = 2`,
    'behind',
    'gap',
  ],
  [
    'a batch that is not proved',
    `update explorer.read_batches set is_proved = false where batch_number = 1`,
    'behind',
    'doubtful',
  ],
  [
    'a batch that is listed, and of which a poll found no blocks,',
    `update etl.feeds set asked = '{[1,)}', frontier = 3 where kind = 'numbered';
     insert into explorer.listed_batches (chain_id, batch_number, page_id) values (10, 4, 1);
     insert into explorer.read_batches (chain_id, batch_number, state, blocks_count, is_proved, walked_at, page_id)
     values (10, 4, 'open', 0, false, now(), 1)`,
    'behind',
    'without-blocks',
  ],
  [
    'an item in quarantine',
    `insert into etl.quarantine (chain_id, operation, page_id, reason, raw, raw_hash, scope, position)
     select chain_id, operation, min(pages.id), 'hash: missing', '{}', 'x', '{}', 0
     from etl.pages join etl.walks on walks.id = walk_id group by 1, 2 limit 1`,
    'needs-you',
    'quarantine',
  ],
  [
    'an order that was broken',
    `update etl.feeds set state = 'unordered', reason = 'unordered: page 3' where operation = 'factories'`,
    'behind',
    'unordered',
  ],
  [
    'a key that is refused',
    `update etl.feeds set state = 'unauthorized', failure = 'key-missing' where operation = 'factories'`,
    'needs-you',
    'key-refused',
  ],
])('%s is not healthy', async (_what, statement, kind, reason) => {
  const { kinds, database } = await copied();
  await database.pool.query(statement);
  const found = await kinds();
  expect(found[0]).toBe(kind);
  expect(found).toContain(reason);
});

/** A chain whose user operations take a while. */
const long = { userOperations: 20_000, batches: { first: 1, count: 0, blocks: 20 } };

/** A command that reads history and is under way, by default a `sync`. */
async function syncing(work: readonly string[] = ['sync', '--quiet'], explorer: object = {}) {
  const made = await scene({ latencyMs: 50, changes: long });
  const chains = [{ id: 10, operations: { 'user-operations': {} } }];
  const program = startProgram(work, {
    databaseUrl: made.database.url,
    explorerUrl: made.simulator.url,
    cwd: await configFolder({ explorer, chains }),
  });
  await eventually('a page', hangMs, async () => {
    const { rows } = await made.database.pool.query<{ pages: string }>(
      `select coalesce(sum(pages), 0) as pages from etl.walks`,
    );
    return Number(rows[0]?.pages) > 0;
  });
  return { ...made, program };
}

const stateOf = async ({ document }: Pick<Awaited<ReturnType<typeof scene>>, 'document'>) =>
  (await document()).feeds.map(({ state }) => state);

test('a sync is seen at work; after Ctrl-C its feed is paused', async () => {
  const made = await syncing();
  expect((await made.document()).workers).toEqual({ start: 0, once: 1 });
  expect(await made.kinds()).toEqual(['reading-history', 'reading']);

  made.program.kill('SIGINT');
  expect(await made.program.ended(hangMs)).toMatchObject({ code: 130 });

  expect(await stateOf(made)).toEqual(['paused']);
  expect(await made.kinds()).toEqual(['paused', 'paused']);
  expect(await made.text()).toMatch(/^● paused: it was told to stop; what was read is kept\n/u);
});

test('a first reading is no credit alarm, whatever its pace', async () => {
  const { document, text } = await syncing(['start'], { daily_credits: 100_000 });
  const forecast = async () => (await document()).credits.forecast;
  // How far back the list goes is not known, so it may end today.
  await eventually('a forecast', hangMs, async () => (await forecast()).kind !== 'unknown');
  expect(await forecast()).toMatchObject({ kind: 'history-takes-days', days: { least: 0 } });
  expect(await text()).toMatch(/history\s+needs\s+up\s+to\s+[\d,]+\s+more\s+days?\s+of\s+credits/u);
});

test('after a kill its feed is unattended', async () => {
  const made = await syncing();
  made.program.kill('SIGKILL');
  await made.program.ended(hangMs);
  await eventually('the end of its session', hangMs, async () =>
    (await stateOf(made)).includes('unattended'),
  );
  expect(await made.kinds()).toEqual(['stopped', 'nobody-works']);
});
