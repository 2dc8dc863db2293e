import { drizzle } from 'drizzle-orm/node-postgres';
import { beforeAll, expect, test, vi } from 'vitest';
import { startSimulator } from '../../../simulator/index.ts';
import { configJsonSchema } from '../../../src/config/schema.ts';
import type * as registry from '../../../src/lists/registry.ts';
import { planFeeds } from '../../../src/status/plan.ts';
import { readStatus } from '../../../src/status/status.ts';
import { repairsOf, verifyFeeds } from '../../../src/status/verify.ts';
import { registerFeeds } from '../../../src/sync/feeds.ts';
import { configuredFeeds, configuredLanes } from '../../../src/sync/targets.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { runSync, settingsFor } from '../../harness/sync.ts';
import { movingOperations } from '../../harness/tables.ts';
import { smallChain } from '../sync/copy.ts';

/** Lists that are registered and that nobody works on: one of each kind. */
vi.mock('../../../src/lists/registry.ts', async (original) => {
  const { operations, operationNames } = await original<typeof registry>();
  const toys = Object.fromEntries(
    Object.values(operations).map((operation) => [`toy-${operation.kind}`, operation]),
  );
  return {
    operations: { ...operations, ...toys },
    operationNames: [...operationNames, ...Object.keys(toys)],
  };
});

const toys = ['toy-newest-first', 'toy-numbered', 'toy-ranked'];
const feeds = toys.map((name) => `10/${name}`);
const chain = smallChain({
  userOperations: 60,
  batches: { first: 1, count: 3, blocks: 20 },
  factories: 20,
});

let database: TestDatabase;
let url: string;
beforeAll(async () => {
  const simulator = await startSimulator({ seed: 5, chains: [chain] });
  ({ url } = simulator);
  database = await createTestDatabase();
  // The lists of the same kinds on the same chain are complete.
  await runSync(database, { url, chains: [chain], operations: movingOperations });
  const db = drizzle(database.pool);
  await registerFeeds(db, configuredFeeds(settings().chains), 'flags', {
    origin: url,
    isSameData: false,
  });
  return async () => {
    await simulator.close();
    await database.drop();
  };
});

const settings = () =>
  settingsFor({ url, chains: [chain], operations: [...movingOperations, ...toys] });
const db = () => drizzle(database.pool);

test('the configuration takes a list of each kind, with the settings of its kind', () => {
  const schema = configJsonSchema();
  for (const toy of toys) expect(schema).toContain(`"${toy}": {`);
  expect(Object.keys(settings().chains[0]?.operations ?? {})).toEqual(expect.arrayContaining(toys));
});

test('it is open in verify, whatever is complete beside it on its chain', async () => {
  const reports = await verifyFeeds(db());

  const [others, own] = [false, true].map((isToy) =>
    reports.filter(({ feed }) => feeds.includes(feed) === isToy),
  );
  expect(others).toHaveLength(3);
  expect(others?.flatMap(({ open }) => open)).toEqual([]);
  expect(own?.map(({ feed }) => feed)).toEqual(feeds);
  for (const { open } of own ?? []) expect(open).not.toEqual([]);
});

test('it is in status and plan, and repair would read it', async () => {
  const status = await readStatus(db(), { pageSize: 50, standby: null });
  const found = status.feeds.filter(({ feed }) => feeds.includes(feed));
  expect(found.map(({ feed, state, lanes }) => [feed, state, lanes])).toEqual(
    feeds.map((feed) => [feed, 'pending', []]),
  );

  const { chains } = settings();
  const forecasts = await planFeeds(db(), chains, { pageSize: 50, at: new Date() });
  const own = forecasts.filter(({ feed }) => feeds.includes(feed));
  expect(own.map(({ feed }) => feed).toSorted()).toEqual(feeds);
  expect(own.map(({ history }) => history.requests)).toEqual([null, null, null]);

  const rounds = await repairsOf(db(), await verifyFeeds(db()), configuredLanes(chains));
  const repaired = new Set(rounds.flat().map(({ lane }) => lane.operation));
  expect(repaired).toContain('toy-newest-first');
  expect(repaired).toContain('toy-ranked');
});
