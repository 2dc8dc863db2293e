import { expect, test } from 'vitest';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { type FailureClass, failures } from '../../../src/failure.ts';
import type { StatusDocument } from '../../../src/status/schema.ts';
import { creditsPerRequest } from '../../../src/explorer/budget.ts';
import {
  recountCoverage,
  repairsOf,
  type VerifyDocument,
  verifyFeeds,
} from '../../../src/status/verify.ts';
import { configuredLanes } from '../../../src/sync/feeds.ts';
import { inWords } from '../../harness/ledger.ts';
import { call } from '../../harness/process.ts';
import { openCopied, plainChain, settingsFor } from '../../harness/sync.ts';
import { feedOf, statusOf } from '../../harness/status.ts';
import { openProgram } from './program.ts';

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 300,
  batches: { first: 1, count: 8, blocks: 30 },
  gaps: [4],
  factories: 20,
};

/** A whole copy, what is open of it, and what the command says. */
async function copied(simulated = chain) {
  const { simulator, database, db, query } = await openCopied(simulated);
  const { chains } = settingsFor({ url: simulator.url, chains: [simulated] });
  const lanes = configuredLanes(chains).map(({ lane, scope }) => ({ lane, scope }));
  const verify = (...flags: string[]) =>
    call(['verify', '--database-url', database.url, ...flags], {});
  return {
    database,
    query,
    verify,
    documentOf: async () =>
      JSON.parse((await verify('--json')).stdout) as VerifyDocument & { readonly exit: object },
    findings: async () =>
      (await verifyFeeds(db)).flatMap((report) =>
        inWords(report).open.map((what) => `${report.feed} ${what}`),
      ),
    /** The scopes of the walks that a repair makes, in their rounds. */
    repairs: async () =>
      (await repairsOf(db, await verifyFeeds(db), lanes)).map((round) =>
        round.map(({ scope }) => scope),
      ),
  };
}

test('batches whose hashes do not link at their border are open, across an empty one too', async () => {
  const { query, findings, repairs } = await copied();
  await query(`
    update explorer.blocks set parent_hash = null
    where height = (select first_height from explorer.read_batches where batch_number = 5)`);

  expect(await findings()).toEqual([
    '10/optimism-batch-blocks batches 3 to 5: heights or hashes do not link at the border',
  ]);
  expect((await repairs()).flat()).toEqual([
    { from_batch: 5, to_batch: 5 },
    { from_batch: 3, to_batch: 3 },
  ]);

  // No gap has a number that is not wanted.
  await query(`update etl.feeds set target_numbers = '{[1,5)}' where kind = 'numbered'`);
  expect((await findings()).filter((what) => what.includes('border'))).toEqual([
    '10/optimism-batch-blocks batches 3 to 4: heights or hashes do not link at the border',
  ]);
});

test('each finding is reported with the command that fixes it, and the feed with what that costs', async () => {
  const { database, query, documentOf, repairs } = await copied();
  await query(`
    insert into etl.quarantine (chain_id, operation, scope, raw, raw_hash, reason, page_id, position)
    values (10, 'factories', '{}', '{}', 'x', 'address: missing', 1, 0);
    delete from explorer.read_batches where batch_number in (2, 3, 6)`);
  await recountCoverage(database.db);

  // Status counts the same ranges, and so do its metric and the page.
  expect(
    await query(`
      select gaps::int, missing::int, (select count(*)::int from explorer.gaps) as listed
      from etl.feed_extents where batches is not null`),
  ).toEqual([{ gaps: 2, missing: 3, listed: 2 }]);
  const { exit, counts, feeds, repair } = await documentOf();

  const command = 'explorer-etl repair --chain 10 --operation optimism-batch-blocks';
  expect(exit).toEqual({ code: 1, reason: 'open' });
  expect(counts).toMatchObject({ feeds: 3, complete: 1, open: 2, findings: 3 });
  const gap = { kind: 'gap', sentence: 'not downloaded', command, count: null };
  expect(feeds.flatMap(({ open }) => open)).toEqual([
    { ...gap, place: { unit: 'batches', from: 2, to: 3 } },
    { ...gap, place: { unit: 'batches', from: 6, to: 6 } },
    {
      kind: 'quarantine',
      place: null,
      sentence: '1 item in quarantine',
      count: 1,
      command: 'explorer-etl quarantine list --chain 10 --operation factories',
    },
  ]);
  const [, blocks, factories] = feeds;
  expect(factories?.repair).toBeNull();
  const requests = blocks?.repair?.requests ?? 0;
  expect(blocks?.repair).toEqual({
    command,
    requests,
    credits: requests * creditsPerRequest,
    at_most: requests,
  });
  expect(repair).toEqual({ ...blocks?.repair, command: 'explorer-etl repair' });
  expect(await repairs()).toEqual([
    [{ from_batch: 6, to_batch: 6 }],
    [{ from_batch: 2, to_batch: 3 }],
  ]);
  // Three batches of as many pages as the others have on average, never fewer than one each.
  expect(requests).toBeGreaterThanOrEqual(3);
});

test('a feed that was never read is reported as open, whatever its kind', async () => {
  const { verify, query } = await copied();
  expect((await verify()).code).toBe(0);
  await query(`
    insert into etl.feeds (chain_id, operation, kind, settings)
    values (11, 'user-operations', 'newest-first', '{}'),
           (11, 'optimism-batch-blocks', 'numbered', '{}'), (11, 'factories', 'ranked', '{}'),
           (11, 'made-up-list', 'made-up-kind', '{}')`);

  const { code, stdout } = await verify();

  expect(code).toBe(1);
  const to = (operation: string) => `--chain 11 --operation ${operation}`;
  expect(stdout.slice(0, stdout.indexOf('✓'))).toBe(
    `● open: 4 of 7 feeds, 4 findings

chain (11) made-up-list
  nothing is verified

chain (11) user-operations
  nothing is verified: no range is covered yet
  → explorer-etl repair ${to('user-operations')}

chain (11) optimism-batch-blocks
  the newest batch is not found yet
  → explorer-etl sync ${to('optimism-batch-blocks')}

chain (11) factories
  nothing is verified: no full snapshot yet
  → explorer-etl repair ${to('factories')}

All of it:
  → explorer-etl repair

`,
  );
});

test('during an outage verify says since when and why, as status does, and that nothing was missing before', async () => {
  const { database, query, verify, documentOf } = await copied();
  await query(`
    insert into etl.hosts (origin, failing_since, failure, reason, next_try_at)
    select distinct origin, timestamptz '2026-01-02T03:04:05Z', 'unreachable', 'connection refused', now()
    from etl.feeds`);

  const { code, stdout } = await verify();

  const status = await call(['status', '--json', '--database-url', database.url], {});
  const { reasons } = JSON.parse(status.stdout) as StatusDocument;
  const [outage] = reasons;
  const [said = ''] = outage?.sentence.split(';') ?? [];
  expect(said).toMatch(/^No answer from .+ since 2026-01-02 03:04 UTC: connection refused$/u);
  expect(code).toBe(0);
  expect(stdout.replaceAll(/\s+/gu, ' ')).toMatch(
    `● complete as of the last reading: all 3 feeds ${outage?.feeds.join(', ')}: ${said} ✓ `,
  );
  const { command = '' } = outage ?? {};
  const note = { kind: 'feed-state', place: null, sentence: said, command, count: null };
  const { feeds } = await documentOf();
  for (const { notes } of feeds) expect(notes).toContainEqual(note);

  await query(`update etl.lanes set paused_at = now()`);
  expect((await verify()).stdout).toMatch(/^● complete: all 3 feeds$/mu);
});

const failing = Object.entries(failures).filter(([, { feed }]) => feed !== null);

test('verify proposes for a failing feed what status does, or else the next run', async () => {
  const { query } = await copied();
  const said = [];
  for (const [failure] of failing) {
    await query(`update etl.feeds set failure = '${failure}', reason = 'x' where kind = 'ranked'`);
    const [found] = await query(`select command from explorer.findings where is_open`);
    said.push([failure, found?.['command']]);
  }
  const sync = 'explorer-etl sync --chain 10 --operation factories';
  expect(said).toEqual(
    failing.map(([name, { feed }]) => {
      const failure = name as FailureClass;
      const { reasons } = statusOf([feedOf({ failure, state: feed ?? 'failing' })]);
      const isOfHost = failures[failure].isOfHost === true;
      const [reason] = isOfHost ? [{ code: '', command: 'explorer-etl check' }] : reasons;
      return [failure, reason?.code === 'failing' ? sync : reason?.command];
    }),
  );
});

test('a walk out of order, batches without neighbours and a withdrawn ranking verify nothing', async () => {
  const { database, query, findings } = await copied();
  await query(`
    delete from etl.rankings;
    update etl.walks set verified = '{}', top = null where kind = 'newest-first';
    update explorer.read_batches set is_verified = false;
    update etl.feeds set target_numbers = '{[1,)}', latest_batch = null where operation = 'optimism-batch-blocks'`);
  await recountCoverage(database.db);

  expect(await findings()).toEqual([
    '10/user-operations nothing is verified: no range is covered yet',
    '10/optimism-batch-blocks the newest batch is not found yet',
    '10/factories nothing is verified: no full snapshot yet',
  ]);
});

test.each([
  ['whole lists', chain],
  ['lists that are empty, by their ends', { ...chain, userOperations: 0, factories: 0 }],
])('verify finds nothing open in %s, and repair has nothing to do', async (_, simulated) => {
  const { findings, repairs } = await copied(simulated);

  expect(await findings()).toEqual([]);
  expect(await repairs()).toEqual([]);
});

test('a covered range has the time of its oldest page, and in JSON of its newest', async () => {
  const { verify, query, documentOf } = await copied();
  await query(`
    update etl.walks set as_of = '2026-01-02T03:04:05Z' where kind = 'newest-first';
    update explorer.read_batches set walked_at = '2026-01-02T00:00:00Z' where batch_number = 2;
    update explorer.read_batches set walked_at = '2026-03-04T00:00:00Z' where batch_number <> 2`);

  const { stdout } = await verify();

  expect(stdout).toMatch(/batches 1 to \d+, as of 2026-01-02 00:00 UTC\n/);
  expect(stdout).toMatch(/blocks 0 to [\d,]+, as of 2026-01-02 03:04 UTC\n/);
  const [operations, blocks] = (await documentOf()).feeds;
  expect(blocks?.covered).toMatchObject([
    { as_of: '2026-01-02T00:00:00+00:00', newest_as_of: '2026-03-04T00:00:00+00:00' },
  ]);
  expect(operations?.covered).toMatchObject([{ newest_as_of: '2026-01-02T03:04:05+00:00' }]);
});

test('verify of a database in which nothing was read is wrong use', async () => {
  const { run } = await openProgram();
  const { code, stdout, stderr } = await run('verify');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('there is nothing in this database yet: run sync or start first');
});

test('each feed that the configuration names and nothing has read is open', async () => {
  const { run, documentOf } = await openProgram({
    operations: { 'user-operations': {}, 'optimism-batch-blocks': {}, factories: {} },
  });
  const openFeeds = async () => {
    const { feeds } = await documentOf<VerifyDocument>('verify');
    return feeds.flatMap(({ feed, open }) => open.map((one) => [feed, one.sentence, one.command]));
  };
  const unread = (operation: string) => [
    `10/${operation}`,
    'never read',
    `explorer-etl sync --chain 10 --operation ${operation}`,
  ];
  expect((await run('verify')).code).toBe(1);
  expect(await openFeeds()).toEqual([
    unread('user-operations'),
    unread('optimism-batch-blocks'),
    unread('factories'),
  ]);
  await run('sync', '--operation', 'user-operations');
  expect(await openFeeds()).toEqual([unread('optimism-batch-blocks'), unread('factories')]);
});
