import { expect, test } from 'vitest';
import { resetFeed } from '../../../src/sync/forget.ts';
import { oneEach } from '../../harness/kept.ts';
import { eventually } from '../../harness/process.ts';
import { openCopied, openCopy, plainChain } from '../../harness/sync.ts';
import { lyingList, reversed } from '../sync/lying-list.ts';
import { reports } from '../status/reports.ts';

// What people read, at the limits of its evidence.

const hourMs = 3_600_000;

const early = `
  select feed, newest_as_of > now() as is_newest_early,
         as_of > (select min(fetched_at) from etl.pages where pages.feed = coverage.feed) as is_early
  from explorer.coverage order by feed`;

test('nothing is complete as of a time after its first page, although the clock of a worker is fast', async () => {
  const chain = { ...plainChain, userOperations: 60, factories: 20 };
  const run = { operations: ['user-operations', 'factories'] };
  const { sync, query } = await openCopy(chain, { run });
  await sync({ at: new Date(Date.now() + hourMs) });

  expect(await query(early)).toEqual([
    { feed: '10/factories', is_early: false, is_newest_early: false },
    { feed: '10/user-operations', is_early: false, is_newest_early: false },
  ]);
  const lags = await query(`select lag >= interval '0' as is_past from explorer.freshness`);
  expect(lags).toEqual([{ is_past: true }, { is_past: true }]);
});

test('what a fast clock and then a true one verify is complete as of the first of both', async () => {
  const chain = { ...plainChain, userOperations: 60 };
  const { sync, query } = await openCopy(chain, { run: { operations: ['user-operations'] } });
  await sync({ at: new Date(Date.now() + hourMs) });
  await sync({ at: new Date(), overlapMs: 24 * hourMs });

  expect(await query('select count(*)::int as walks from etl.walks')).toEqual([{ walks: 2 }]);
  expect(await query(early)).toEqual([
    { feed: '10/user-operations', is_early: false, is_newest_early: false },
  ]);
});

test('a newest item of a time that has not come lags behind by nothing', async () => {
  const chain = { ...plainChain, userOperations: 60 };
  const copy = await openCopy(chain, { run: { operations: ['user-operations'] } });
  const timestamp = new Date(Date.now() + 2 * hourMs).toISOString();
  copy.served.alter = (page) => ({
    ...page,
    items: page.items.map((item, place) => (place === 0 ? { ...item, timestamp } : item)),
  });
  await copy.sync();

  const lags = `select newest_at > now() as is_early, lag < interval '0' as is_early_too from explorer.freshness`;
  expect(await copy.query(lags)).toEqual([{ is_early: true, is_early_too: false }]);
  const { feeds } = await reports(copy.database).status();
  expect(feeds.map(({ lag_s }) => lag_s)).toEqual([0]);
});

test('no late item is seen at a time that has not come', async () => {
  const { list, sync, query } = await lyingList();
  await sync();
  list.operations = [...list.operations, { block: 195, id: 2 ** 40 }];
  await sync({ at: new Date(Date.now() + hourMs) });

  const seen = await query('select seen_at > now() as is_early from explorer.late_arrivals');
  expect(seen).toEqual([{ is_early: false }]);
});

test('a list without items is complete, and no question says otherwise', async () => {
  const chain = { ...plainChain, userOperations: 0 };
  const run = { operations: ['user-operations'] };
  const { sync, open, query, db } = await openCopy(chain, { run });
  const caveats = () => query('select caveat from explorer.left_out(current_date)');
  await sync();

  expect([await open(), await caveats()]).toEqual([[], [{ caveat: null }]]);
  await resetFeed(db, { chain_id: 10, operation: 'user-operations' });
  expect(await caveats()).toEqual([{ caveat: 'not complete anywhere' }]);
});

test('the verified share of all feeds is unknown while that of one is', async () => {
  const chain = { ...plainChain, userOperations: 60, factories: 20 };
  const copy = await openCopy(chain, { run: { operations: ['user-operations', 'factories'] } });
  const { status } = reports(copy.database);
  copy.served.alter = (page, { pathname }) => (pathname.endsWith('/operations') ? {} : page);
  await copy.sync();

  const { feeds, totals } = await status();
  expect(feeds.map(({ verified: { share } }) => share)).toEqual([null, 1]);
  expect(totals.verified_share).toBeNull();
});

test('a feed that was reset keeps its rows, and counts as unread since', async () => {
  const chain = { ...plainChain, userOperations: 60, factories: 20 };
  const copy = await openCopy(chain, { run: { operations: ['user-operations', 'factories'] } });
  const { status } = reports(copy.database);
  await copy.sync();
  const sentences = async () => (await status()).reasons.map(({ sentence }) => sentence);
  await resetFeed(copy.db, { chain_id: 10, operation: 'user-operations' });
  expect(await sentences()).toContain('Not read since its reset.');

  await resetFeed(copy.db, { chain_id: 10, operation: 'factories' });
  expect(await sentences()).toEqual(['Not read since the reset.']);
});

test('a ranking that an empty page cut is no poll: what was listed is not stored', async () => {
  const chain = { ...plainChain, factories: 230 };
  const { served, sync, query } = await openCopy(chain, { run: { operations: ['factories'] } });
  const lookedAt = () => query('select looked_at from explorer.freshness');
  await sync();
  const before = await lookedAt();
  const pages = new Set<string>();
  served.alter = (page, { search }) => {
    pages.add(search);
    return search === [...pages][1] ? { ...page, items: [] } : page;
  };
  const { results } = await sync();

  expect(results).toMatchObject([{ state: 'finished' }]);
  expect(await query('select reason from etl.walks order by id desc limit 1')).toEqual([
    { reason: 'skipped' },
  ]);
  expect(await lookedAt()).toEqual(before);
});

test('a list of which nothing was read is a gap, and an empty one is none', async () => {
  const chain = { ...plainChain, userOperations: 60 };
  const run = { operations: ['user-operations', 'bundles'] };
  const { served, sync, query } = await openCopy(chain, { run });
  const nothing = { items: [], next_page_params: null };
  served.alter = (_page, { pathname }) => (pathname.endsWith('/bundles') ? nothing : {});
  await sync();

  expect(await query('select feed, from_block, unit from explorer.gaps')).toEqual([
    { feed: '10/user-operations', from_block: null, unit: 'blocks' },
  ]);
});

test('the end of a history whose likely length is unknown is an upper bound', async () => {
  const chain = { ...plainChain, userOperations: 2_000 };
  const run = { operations: ['user-operations'] };
  const { sync, database } = await openCopy(chain, { run, latencyMs: 50 });
  const stop = new AbortController();
  const reading = sync({ signal: stop.signal });
  const { feeds, reasons } = await eventually('an end', async () => {
    const now = await reports(database).status();
    return now.feeds.some(({ left }) => left.ends_at !== null) && now;
  });
  stop.abort();
  await reading;

  expect(feeds[0]?.left.requests).toMatchObject({ likely: null, most: expect.any(Number) });
  expect(reasons.map(({ sentence }) => sentence)).toContainEqual(
    expect.stringMatching(/^Reading history of 1 feed until .* UTC at most\.$/u),
  );
});

test('no end is foretold of a history that is read again', async () => {
  const chain = { ...plainChain, userOperations: 2_000 };
  const run = { operations: ['user-operations'] };
  const { sync, database } = await openCopied(chain, { run, latencyMs: 50 });
  const { status } = reports(database);
  const stop = new AbortController();
  const again = sync({ again: true, signal: stop.signal });
  const { feeds, reasons } = await eventually('pages of it', async () => {
    const now = await status();
    const isPaced = now.feeds.some(({ lanes }) =>
      lanes.some(({ state, pages_per_second: pace }) => state === 'running' && (pace ?? 0) > 0),
    );
    return isPaced && now;
  });
  stop.abort();
  await again;

  expect(feeds).toMatchObject([{ left: { ends_in_s: null, ends_at: null } }]);
  expect(reasons.map(({ sentence }) => sentence)).toContain('Reading history of 1 feed.');
});

test('a poll that met disorder concludes what its other pages show, and its reason says so', async () => {
  const { list, sync, covered, open } = await lyingList();
  await sync();
  list.operations = [...list.operations, ...oneEach(201, 260)];
  list.lieOnce(2, reversed);
  await sync();

  expect(await covered()).toEqual(['0 to 239', '252 to 258']);
  expect(await open()).toContain(
    'unordered: the service broke the order of the list; rows are kept, but nothing is concluded where it did',
  );
});
