import { expect, test } from 'vitest';
import { advance } from '../../../src/sync/advance.ts';
import { setFailure } from '../../../src/sync/failures.ts';
import { configuredLanes } from '../../../src/sync/feeds.ts';
import type { ServedPage } from '../../harness/explorer.ts';
import { call } from '../../harness/process.ts';
import { openContender, pageBudget } from '../../harness/runner.ts';
import { openCopy, plainChain, settingsFor } from '../../harness/sync.ts';
import { openRun } from '../../harness/runs.ts';

const chain = { ...plainChain, factories: 230 };
/** Of 50, the last of 30. */
const pages = 5;

type Lie = (page: ServedPage) => unknown;

const emptyEnd: Lie = () => ({ items: [], next_page_params: null });

/** What a page says that ends the list where it cannot end. */
const ends: readonly (readonly [name: string, lie: Lie, met: number])[] = [
  ['an empty page', emptyEnd, 100],
  ['a short page', ({ items }) => ({ items: items.slice(0, 20), next_page_params: null }), 120],
  ['a full page', ({ items }) => ({ items, next_page_params: null }), 150],
];

/** A list of 230 factories whose third page, or each, a test may change. */
async function world() {
  const copy = await openCopy(chain, { run: { operations: ['factories'] } });
  const { served, query, database, simulator } = copy;
  const tokenOf = ({ searchParams }: URL) => searchParams.get('page_token');
  let walked = 0;
  let third = '';
  served.alter = (page, url) => {
    const seen = tokenOf(url);
    walked = seen === null ? 1 : walked + 1;
    if (walked === 3) third ||= seen ?? '';
    return page;
  };
  return {
    query,
    database,
    simulator,
    verify: () => call(['verify', '--database-url', database.url]),
    /** Changes the third page so many times from now on, or whenever it is requested. */
    lie: (how: Lie, times = Infinity) => {
      let lies = 0;
      served.alter = (page, url) => {
        if (tokenOf(url) !== third || lies === times) return page;
        lies += 1;
        return how(page);
      };
    },
    /** Changes every page from now on; `walk` counts from 1. */
    change: (how: (page: ServedPage, walk: number) => unknown) => {
      let walk = 0;
      served.alter = (page, url) => {
        if (tokenOf(url) === null) walk += 1;
        return how(page, walk);
      };
    },
    sync: async () => {
      const { results, requests } = await copy.sync();
      return { ...results[0], requests };
    },
    ranked: async () =>
      (await query('select from explorer.factories where rank is not null')).length,
    missing: async () =>
      (await query('select from explorer.factories where missing_since is not null')).length,
    published: async () => [
      await query('select address_hash, rank, missing_since from explorer.factories order by 1'),
      await query('select * from explorer.factory_history order by 1, 2, 3'),
      await query('select * from etl.rankings'),
    ],
  };
}

test.each(ends)(
  '%s is no end of a longer list, however often it is repeated, and verify says why',
  async (_name, lie, met) => {
    const { sync, lie: answerWith, published, verify } = await world();
    await sync();
    const before = await published();
    answerWith(lie);

    const { state, reason, requests } = await sync();

    const evidence = `ends after ${met} factories, where the ranking of \\S+ held 230, ${230 - met} of them not met`;
    expect(state).toBe('interrupted');
    expect(reason).toMatch(new RegExp(`^truncated: .*${evidence}`));
    // Three pages, and three more answers at the place in doubt.
    expect(requests).toBe(6);
    expect(await published()).toEqual(before);
    const { code, stdout } = await verify();
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`truncated: .*${evidence}`));
  },
);

test('a false end that is not repeated costs one request', async () => {
  const { sync, lie: answerWith, ranked, missing, verify } = await world();
  await sync();
  answerWith(emptyEnd, 1);

  expect(await sync()).toMatchObject({ state: 'finished', requests: pages + 1 });
  expect([await ranked(), await missing(), (await verify()).code]).toEqual([230, 0, 0]);
});

test('a false end that is not repeated ends no first ranking', async () => {
  const { sync, lie: answerWith, ranked, query } = await world();
  await sync();
  await query('truncate explorer.factories, explorer.factory_history, etl.rankings');
  answerWith(emptyEnd, 1);

  // One for the page in doubt, one for the true end, which nothing supports yet.
  expect(await sync()).toMatchObject({ state: 'finished', requests: pages + 2 });
  expect(await ranked()).toBe(230);
});

test('a ranking that a person withdrew is no evidence: the end is requested once more, and accepted', async () => {
  const { sync, lie: answerWith, ranked, missing, query, verify } = await world();
  await sync();
  // An empty page would be read again: it lacks the item that its cursor names.
  answerWith(({ items }) => ({ items: items.slice(0, 20), next_page_params: null }));
  await sync();
  await query('update explorer.factories set rank = null where chain_id = 10');

  expect(await sync()).toMatchObject({ state: 'finished', requests: 4 });
  expect([await ranked(), await missing(), (await verify()).code]).toEqual([120, 110, 0]);
});

test('an empty page that leads on past a part of the list is requested again, and gives no ranking', async () => {
  const { sync, lie: answerWith, published, query, verify } = await world();
  await sync();
  const before = await published();
  const skip: Lie = ({ next_page_params }) => ({ items: [], next_page_params });
  answerWith(skip);

  // The page is requested once more, and so is the end, before which 50 were not met.
  expect(await sync()).toMatchObject({ state: 'finished', requests: pages + 2 });

  expect(await published()).toEqual(before);
  expect((await verify()).stdout).toContain('factories: an empty page skipped a part');
  await query('truncate explorer.factories, explorer.factory_history, etl.rankings');
  await sync();
  const { code, stdout } = await verify();
  expect([code, stdout]).toEqual([1, expect.stringContaining('nothing is verified: ')]);
  answerWith(skip, 1);
  await sync();
  expect((await verify()).code).toBe(0);
});

test('a ranking whose last walk was cut short a little marks no item as missing', async () => {
  const { sync, change, missing, query } = await world();
  await sync();
  // Always out of order, so that three walks are made; the last of them lacks its last five.
  change((page, walk) => {
    const [first, second, ...rest] = page.items;
    if (first !== undefined && second !== undefined) page.items = [second, first, ...rest];
    if (page.next_page_params === null && walk === 3) page.items = page.items.slice(0, -5);
    return page;
  });

  await sync();

  expect(await query('select walks from etl.rankings order by walk_id')).toEqual([
    { walks: 1 },
    { walks: 3 },
  ]);
  expect(await missing()).toBe(0);
});

test.each([
  ['lacks its first items', ({ items }: ServedPage) => items.slice(5)],
  ['is another one', ({ items }: ServedPage) => items.slice(-1)],
])('a page that %s is no part of a ranking: the list is read again', async (_name, wrong) => {
  const { sync, change, ranked } = await world();
  let requested = 0;
  change((page) => {
    requested += 1;
    return requested === 3 ? { ...page, items: wrong(page) } : page;
  });

  const { requests } = await sync();

  expect(await ranked()).toBe(chain.factories);
  // The end is requested once more, of the second walk alone.
  expect(requests).toBe(2 * pages + 1);
});

test('a ranking that fails for another reason is not read again in the same run', async () => {
  const { sync, change } = await world();
  const unreadable = { page_token: 'x'.repeat(5000) };
  change((page) => ({ ...page, next_page_params: unreadable }));

  expect(await sync()).toMatchObject({
    state: 'failed',
    reason: expect.stringMatching(/^cursor unreadable: page_token/u),
    requests: 1,
  });
});

test('a truncated ranking that is read again makes no progress, so its waits grow', async () => {
  const { lie, sync, query, database, simulator } = await world();
  await sync();
  lie(emptyEnd);
  const run = { url: simulator.url, chains: [chain], operations: ['factories'] };
  const engine = await openContender(database, run);
  const [target] = configuredLanes(settingsFor(run).chains);
  if (target === undefined) throw new Error('no lane');
  const { lane, scope } = target;
  await openRun(engine.db, lane, scope);
  const work = () => advance(lane, pageBudget(Infinity), engine, new AbortController().signal);
  const feedFailure = { failure: 'truncated', reason: 'truncated: …' } as const;

  for (const _ of ['once', 'again']) {
    expect(await work()).toMatchObject({ is: 'failure', progressed: false });
    await setFailure(engine.db, lane, feedFailure);
  }
  await work();

  expect(await query('select failure from etl.feeds')).toEqual([{ failure: 'truncated' }]);
});
