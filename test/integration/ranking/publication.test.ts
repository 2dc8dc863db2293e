import { expect, test } from 'vitest';
import { startInstantMs } from '../../../simulator/index.ts';
import { readStrips } from '../../../src/status/coverage.ts';
import { dueScope } from '../../../src/sync/feeds.ts';
import { rankingWorld, minuteMs } from './world.ts';
import { call } from '../../harness/process.ts';

const pageSize = 10;
const factories = 60;
const pages = factories / pageSize;
const stepMs = 3 * minuteMs;

type World = Awaited<ReturnType<typeof rankingWorld>>;

/** A sync that is stopped while its nth request is under way. */
async function stoppedSync(world: World, at: number, each = (): void => undefined) {
  const stop = new AbortController();
  return world.sync({ pageSize, signal: stop.signal }, (request) => {
    each();
    if (request === at) stop.abort();
  });
}

/** What a ranking publishes, and nothing else. */
const publishedOf = async (world: World) => ({
  ranks: await world.query(`
    select address_hash, rank, missing_since from explorer.factories
    where rank is not null or missing_since is not null order by address_hash`),
  history: await world.query('select * from explorer.factory_history order by 1, 2, 3'),
  rankings: await world.query('select * from etl.rankings'),
});

const nothing = { ranks: [], history: [], rankings: [] };

test('a ranking that is stopped midway publishes nothing, and publishes all once it is resumed', async () => {
  const world = await rankingWorld({}, factories);

  const { results } = await stoppedSync(world, 4);

  expect(results.map(({ state }) => state)).toEqual(['open']);
  expect(await world.count('explorer.factories')).toBeGreaterThan(0);
  expect(await publishedOf(world)).toEqual(nothing);
  expect((await world.report())?.open).toEqual(['nothing is verified: no full snapshot yet']);

  const { requests } = await world.sync({ pageSize });

  expect(requests).toBeLessThan(pages);
  expect(await world.stored()).toEqual(world.expected());
  expect(await world.count('explorer.factory_history')).toBe(factories);
});

test('a ranking that is stopped in its second walk keeps the published one, and resumes with both walks', async () => {
  const world = await rankingWorld({ factoryChangeMs: 9 * minuteMs }, factories);
  await world.sync({ pageSize });
  const before = await publishedOf(world);

  await stoppedSync(world, pages + 3, () => {
    world.clock.nowMs += stepMs;
  });

  expect(await publishedOf(world)).toEqual(before);
  const met = await world.query('select distinct walk_id from etl.ranking_entries');
  expect(met).toHaveLength(2);

  await world.sync({ pageSize });

  expect((await world.walks()).at(-1)).toEqual({ state: 'finished', reason: null });
  expect((await world.stored()).filter(({ is_missing }) => is_missing)).toEqual([]);
  await world.sync({ pageSize });
  expect(await world.stored()).toEqual(world.expected());
});

test('a ranking with a page limit publishes nothing, and the next one discards its entries', async () => {
  const world = await rankingWorld({}, factories);

  await world.sync({ pageSize, maxPages: 2 });

  expect(await publishedOf(world)).toEqual(nothing);
  expect(await world.count('etl.ranking_entries')).toBe(2 * pageSize);
  expect((await world.report())?.open).toEqual(['nothing is verified: no full snapshot yet']);

  const [bounded] = await world.query('select id from etl.walks');
  await stoppedSync(world, 2);
  expect(
    await world.query(`select from etl.ranking_entries where walk_id = ${bounded.id}`),
  ).toEqual([]);
  expect(await world.count('etl.walks')).toBe(2);
});

test('a ranking that a page limit cut is no poll, and a start reads the list whole', async () => {
  const world = await rankingWorld({}, factories);
  const target = {
    lane: { chain_id: 10, operation: 'factories', lane: 'backfill' },
    scope: {},
  } as const;
  const isDue = async () => (await dueScope(world.db, target, 'start', new Date())) !== null;
  const looked = () => world.query('select looked_at from explorer.freshness');
  await world.sync({ pageSize, maxPages: 1 });
  expect(await looked()).toEqual([{ looked_at: null }]);
  expect(await isDue()).toBe(true);

  await world.sync({ pageSize });
  const whole = await looked();
  expect(await isDue()).toBe(false);

  await world.sync({ pageSize, maxPages: 1 });
  expect(await looked()).toEqual(whole);
});

test('the page calls no ranking verified before one is published, or that lacks an item in quarantine', async () => {
  const world = await rankingWorld({}, factories);
  const drawn = async () => (await readStrips(world.db, new Map())).feeds[0]?.cells ?? [];
  await world.sync({ pageSize, maxPages: 1 });
  expect(await drawn()).not.toContain('verified');

  await world.sync({ pageSize });
  expect(await drawn()).toContain('verified');

  await world.query(`
    insert into etl.quarantine (chain_id, operation, scope, raw, raw_hash, reason, page_id, position)
    select 10, 'factories', '{}', '{}', 'x', 'no hash', max(id), 0 from etl.pages`);
  expect((await world.report())?.open).toEqual(['1 item in quarantine']);
  expect(await drawn()).not.toContain('verified');
});

test('a ranking superseded by another scope is never published, and nothing of it stays', async () => {
  const world = await rankingWorld({}, factories);
  await stoppedSync(world, 4);
  const [old] = await world.query('select id from etl.walks');

  await world.sync({ pageSize, maxPages: 1 });

  expect(await publishedOf(world)).toEqual(nothing);
  expect(await world.query(`select from etl.ranking_entries where walk_id = ${old.id}`)).toEqual(
    [],
  );
  await world.sync({ pageSize });
  expect(await world.count('etl.ranking_entries')).toBe(0);
  expect(await world.stored()).toEqual(world.expected());
});

test('verify says how many factories the last ranking holds, and as of when', async () => {
  const world = await rankingWorld({}, factories);
  world.clock.nowMs = 5 * minuteMs;
  await world.sync({ pageSize });

  const { covered } = (await world.report()) ?? {};
  expect(covered?.map(({ from, to, as_of }) => [from, to, Date.parse(as_of)])).toEqual([
    [1, factories, startInstantMs + 5 * minuteMs],
  ]);
  const { stdout } = await call(['verify', '--database-url', world.url]);
  // The simulated factories have fields that the specification does not name.
  expect(stdout).toMatch(
    /^● complete: 1 feed\n\n✓ \S+ \(10\) factories {2}full snapshot of 60 rows, as of .*\n\nNotes\n.* unknown fields? .*\n$/,
  );
});

test('explorer.coverage and verify agree on the times of a ranking, and on an empty one', async () => {
  const moving = await rankingWorld({ factoryChangeMs: 9 * minuteMs }, factories);
  await moving.sync({ pageSize }, () => {
    moving.clock.nowMs += stepMs;
  });
  await moving.query(`update etl.walks set as_of = as_of + id * interval '1 minute'`);
  const empty = await rankingWorld({}, factories);
  empty.service.isEmpty = true;
  await empty.sync({ pageSize });

  for (const [world, to, newest] of [
    [moving, factories, startInstantMs + 3 * minuteMs],
    [empty, 0, startInstantMs],
  ] as const) {
    const times = { as_of: new Date(startInstantMs), newest_as_of: new Date(newest) };
    expect(await world.query('select as_of, newest_as_of from explorer.coverage')).toEqual([times]);
    expect(await world.query('select * from etl.verified_ranges')).toMatchObject([
      { from: '1', to: `${to}`, ...times },
    ]);
  }
  const { stdout } = await call(['verify', '--database-url', empty.url]);
  expect(stdout).toMatch(
    /^● complete: 1 feed\n\n✓ \S+ \(10\) factories {2}full snapshot of 0 rows, /,
  );
});

test('a list that is suddenly empty is no ranking, and the next one is published as usual', async () => {
  const world = await rankingWorld({}, factories);
  await world.sync({ pageSize });
  const before = await publishedOf(world);

  world.service.isEmpty = true;
  const { results } = await world.sync({ pageSize });

  expect(results.map(({ state }) => state)).toEqual(['interrupted']);
  expect(await publishedOf(world)).toEqual(before);
  expect((await world.report())?.open).toEqual([
    expect.stringMatching(/^truncated: .*ends after 0 factories.* held 60, 60 of them/),
  ]);

  world.service.isEmpty = false;
  await world.sync({ pageSize });

  expect(await world.stored()).toEqual(world.expected());
  expect((await world.report())?.notes).toEqual([]);
});
