import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { alterPage, statusFaults } from '../../simulator/index.ts';
import { simulated } from '../harness/explorer.ts';
import { logLines } from './log-lines.ts';
import { configFolder, eventually, startProgram } from '../harness/process.ts';
import { plainChain } from '../harness/sync.ts';
import { openWorld, type WorldOptions } from '../harness/world.ts';

const chain = { ...plainChain, userOperations: 40, factories: 30 };
const operations = { 'user-operations': { parallel: 1 }, factories: {} };
const openScene = (options: Partial<WorldOptions> = {}) =>
  openWorld({ seed: 5, chain, operations, explorer: { page_size: 10 }, ...options });

test('under a service manager, start logs one event a line and counts repeated failures', async () => {
  let isBroken = true;
  let requested = 0;
  const { database, place } = await openScene({
    faults: ({ operation }) => {
      if (!isBroken || operation !== 'user-operations') return null;
      requested += 1;
      return statusFaults['422'];
    },
  });
  const { query } = database;
  const program = startProgram(['start'], place);
  const logged = (name: string) => logLines(program.stderr).filter(({ event }) => event === name);

  // Its run ends; one that a person requests meets the same.
  const requestPoll = `update etl.lanes set requested_at = clock_timestamp()
    from etl.runs where (runs.feed, runs.lane) = (lanes.feed, lanes.lane) and state = 'interrupted'`;
  for (let round = 1; round <= 3; round += 1) {
    await eventually('the feed to fail', async () => {
      const rows = await query("select from etl.runs where state = 'interrupted'");
      return rows.length > 0 && requested >= round;
    });
    await query(requestPoll);
  }
  isBroken = false;
  await eventually('the feed to recover', async () => {
    await query(requestPoll);
    return logged('feed.recovered').length > 0 && logged('feed.updated').length === 2;
  });
  program.kill('SIGTERM');

  expect(await program.ended()).toEqual({ code: 0, signal: null });
  const names = logLines(program.stderr).map(({ event }) => event);
  expect(names[0]).toBe('start.ready');
  expect(names.at(-1)).toBe('start.stopped');
  expect(logged('start.ready')).toMatchObject([{ feeds: 2, chains: 1 }]);
  expect(logged('feed.failed')).toMatchObject([
    { level: 'error', feed: '10/user-operations', failure: 'rejected', times: 1 },
  ]);
  const [recovered] = logged('feed.recovered');
  expect(recovered).toMatchObject({ feed: '10/user-operations', was: 'rejected' });
  expect(recovered?.['times']).toBeGreaterThanOrEqual(3);
  const came = logged('feed.updated').map(({ feed, added }) => [feed, added]);
  expect(Object.fromEntries(came)).toEqual({
    '10/user-operations': chain.userOperations,
    '10/factories': chain.factories,
  });
  expect(logged('feed.updated')).toContainEqual(
    expect.objectContaining({
      feed: '10/factories',
      lane: 'backfill',
      added: 30,
      pages: 3,
      requests: 4,
      credits: 80,
    }),
  );
});

test('a refused key is one log line, however many feeds it stops, and its recovery is another', async () => {
  let isRefused = true;
  const { database, place } = await openScene({
    faults: () => (isRefused ? statusFaults['401'] : null),
    operations: { ...operations, 'optimism-batches': {}, 'optimism-batch-blocks': {} },
  });
  const { query } = database;
  const program = startProgram(['start'], place);
  const lanes = async () => {
    const rows = await query(`
      select count(*)::int as open, count(*) filter (where failures_in_a_row > 0)::int as failing
      from etl.runs where state = 'open'`);
    return rows[0] ?? { open: 0, failing: 0 };
  };
  await eventually('each lane to fail', async () => {
    const { open, failing } = await lanes();
    return failing === open && failing >= 4;
  });
  const refused = logLines(program.stderr);
  isRefused = false;
  await eventually('all feeds to work', async () => {
    await query('update etl.budget set paused_until = now()');
    await query(
      "update pgboss.job set start_after = now() where name = 'slices' and state = 'created'",
    );
    return (await lanes()).failing === 0;
  });
  program.kill('SIGTERM');
  await program.ended();

  expect(refused.filter(({ level }) => level === 'error')).toMatchObject([
    {
      event: 'key.refused',
      variable: 'EXPLORER_API_KEY',
      failure: 'unauthorized',
      msg: expect.stringMatching(
        /^EXPLORER_API_KEY: unauthorized: HTTP 401, Unauthorized; .*Set a key/u,
      ),
    },
  ]);
  const lines = program.stderr.split('\n').filter((line) => line.includes('key.'));
  expect(lines).toHaveLength(2);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(400);
  expect(logLines(program.stderr)).toContainEqual(
    expect.objectContaining({ event: 'key.accepted', msg: expect.stringMatching(/works again/u) }),
  );
  expect(program.stderr).not.toContain('feed.recovered');
});

test('a start that cannot begin logs why as an event, and prints it as a sentence on a terminal', async () => {
  const { place } = await openScene();
  const environment = { ...place, cwd: await configFolder({ chains: [] }) };
  const [forPrograms, forPeople] = await Promise.all(
    ['json', 'pretty'].map(async (format) => {
      const program = startProgram(['start', '--log-format', format], environment);
      expect(await program.ended()).toEqual({ code: 2, signal: null });
      return program.stderr;
    }),
  );
  expect(logLines(forPrograms ?? '')).toMatchObject([
    { event: 'start.failed', problems: [expect.stringMatching(/^no chain to copy/u)] },
  ]);
  expect(forPeople).toMatch(/^explorer-etl: no chain to copy.*\n$/u);
});

test('the schema drift of a feed is one log line, and its new rows are another', async () => {
  const renamed = alterPage(({ items, ...page }, { pathname }) => ({
    ...page,
    items: items.map((item, index) => ({ ...item, [`new_${pathname.length}_${index % 3}`]: 1 })),
  }));
  const explorer = await simulated({ seed: 5, chains: [chain], faults: () => renamed });
  const { place } = await openScene();
  const environment = { ...place, explorerUrl: explorer.url };
  const program = startProgram(['start', '--log-format', 'pretty'], environment);
  await eventually('both feeds to be copied', async () => {
    return program.stderr.split('feed.updated').length > 2;
  });
  program.kill('SIGTERM');
  await program.ended();

  const lines = program.stderr.split('\n').slice(0, -1);
  const of = (event: string) =>
    lines.filter((line) => line.includes(event)).map((line) => line.split('  ')[1]);
  expect(of('feed.drift').toSorted((a = '', b = '') => a.localeCompare(b))).toEqual([
    expect.stringMatching(
      /^10\/factories: items differ in 5 new ways, such as field new_\d+_0\. /u,
    ),
    expect.stringMatching(
      /^10\/user-operations: items differ in 4 new ways, such as field \w+\. /u,
    ),
  ]);
  expect(of('feed.updated')).toContainEqual(
    expect.stringMatching(/^10\/factories \(backfill\): 30 new, 3 pages, \S+$/u),
  );
  expect(lines.filter((line) => !/^\d\d:\d\d:\d\d [A-Z]+: [\w.-]+ {2}\S/u.test(line))).toEqual([]);
});

test('a warning of Node or of a package is a line of the log', async () => {
  const { place } = await openScene();
  const main = join(place.cwd, 'warning.mjs');
  const warn = `setInterval(() => process.emitWarning('of a driver'), 50).unref();`;
  await writeFile(main, `${warn}\nawait import('file://${inject('program')}');\n`);
  const program = startProgram(['start'], place, main);
  await eventually('a warning to be logged', async () =>
    logLines(program.stderr).some(({ event }) => event === 'process.warning'),
  );
  program.kill('SIGTERM');
  await program.ended();
  const warning = logLines(program.stderr).find(({ event }) => event === 'process.warning');
  expect(warning).toMatchObject({ level: 'warn', problem: 'Warning: of a driver' });
});
