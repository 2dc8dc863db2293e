/**
 * `npm run bench:drawing [-- --walks 500000 --seconds 30]`: what the progress lines of a `sync` cost while it reads, in
 * node and in Postgres, on a database with a year of walks; the plan of their statement; and what one look at all
 * that `status` tells takes there. Exit code 1 when drawing takes 1 % of a core or more.
 */
import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { drizzle } from 'drizzle-orm/node-postgres';
import { createLogUpdate } from 'log-update';
import type { Pool } from 'pg';
import { showProgress, watchedFeeds } from '../src/cli/progress.ts';
import { migrate } from '../src/db/migrate.ts';
import { createPool } from '../src/db/pool.ts';
import { configuredLanes } from '../src/feeds/lanes.ts';
import { laneCounts, runsLeft } from '../src/report/progress.ts';
import { feedsNow } from '../src/report/lane-state.ts';
import { countTotalsAgain } from '../src/report/totals.ts';
import { grow } from '../test/grown/grow.ts';
import { plainOutput } from '../test/support/plain-output.ts';
import { grownSettings } from '../test/grown/settings.ts';
import { sizeOf } from '../test/grown/size.ts';
import { clusterCpuMs } from './cluster-cpu.ts';
import { interruptSignal } from './interrupt.ts';
import { describeMachine } from './machine.ts';
import { withServer } from './server.ts';

const { values } = parseArgs({
  options: {
    walks: { type: 'string', default: '500000' },
    seconds: { type: 'string', default: '30' },
  },
});
const walks = Number(values.walks);
const seconds = Number(values.seconds);
/** Part of a core that drawing may take. */
const most = 0.01;
const operations = 200_000;
const warmUpMs = 10_000;
const signal = interruptSignal();

/** Ticks that brought nothing, as a year leaves them of each list that is polled, and an open run of each lane. */
async function addTicks(pool: Pool): Promise<void> {
  await pool.query('alter table etl.walks disable trigger user');
  await pool.query(
    `with feed as (
       select *, row_number() over (order by feed) as place, count(*) over () as number
       from etl.feeds
       where kind <> 'ranked'
     ), tick as (
       insert into etl.runs (chain_id, operation, lane, scope, state, opened_at, closed_at)
       select chain_id, operation, 'live', '{}', 'finished', at, at
       from feed, generate_series(1, $1::int / number) as n,
            lateral (select now() - n * interval '1 minute' as at) as moment
       returning id, chain_id, operation, opened_at as at
     )
     insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, state, reason, pages, items,
                            credits, top, bottom, started_at, updated_at, finished_at)
     select tick.chain_id, tick.operation, 'live', tick.id, kind, '{}', 'finished', 'floor', 1, 50, 20, top, top - 50, at, at, at
     from tick join etl.feeds using (chain_id, operation)
     left join (select feed, max(top) as top from etl.walks group by feed) as newest using (feed)`,
    [walks],
  );
  await pool.query('alter table etl.walks enable trigger user');
  await countTotalsAgain(drizzle(pool));
  await pool.query(
    `with opened as (
       insert into etl.runs (chain_id, operation, lane, scope)
       select chain_id, operation, lane, scope
       from etl.newest_runs
       returning id, chain_id, operation, lane
     )
     insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, pages, items, inserted, credits)
     select chain_id, operation, lane, id, kind, '{}', 1, 50, 50, 20
     from opened join etl.feeds using (chain_id, operation)`,
  );
  await pool.query('vacuum analyze');
}

/** Processor time that a piece of work takes beside what an idle server does in the same time, in ms. */
async function cpuOf(dataDirectory: string, work: () => Promise<unknown>) {
  const before = { node: process.cpuUsage(), postgres: clusterCpuMs(dataDirectory) ?? 0 };
  const begun = performance.now();
  await work();
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(before.node);
  const postgres = (clusterCpuMs(dataDirectory) ?? 0) - before.postgres;
  return { ms, node: (user + system) / 1_000, postgres };
}

await withServer(async ({ url: serverUrl, dataDirectory, withDatabase }) => {
  console.log(await describeMachine(serverUrl));
  await withDatabase(async (url) => {
    await migrate(url);
    const pool = createPool({ url, max: 2, applicationName: 'explorer-etl bench' });
    const db = drizzle(pool);
    try {
      const size = sizeOf(operations, Date.now());
      const settings = grownSettings('http://localhost', size);
      await grow(pool, size, settings.chains);
      await addTicks(pool);
      const targets = configuredLanes(settings.chains);
      const feeds = watchedFeeds(settings, targets);
      const names = feeds.map(({ feed }) => feed);
      const { pageSize } = settings.explorer;

      /** A terminal of which nobody sees anything, and a page committed twenty times a second. */
      const draw = async (drawnMs: number) => {
        let drawings = 0;
        const nowhere = new Writable({ write: (_text, _encoding, done) => done() });
        const update = createLogUpdate(nowhere, { showCursor: true });
        const look = { isTerminal: true, columns: 80, isColoured: true };
        const screen = {
          look,
          write: () => undefined,
          lines(lines: readonly string[]) {
            drawings += 1;
            update(lines.join('\n'));
          },
          clear: () => update.clear(),
          done: () => update.done(),
        };
        const context = {
          ...plainOutput,
          env: {},
          cwd: '/',
          args: [],
          signal,
          stdout: () => undefined,
          stderr: () => undefined,
        };
        const watched = { db, feeds, pageSize, mostPages: null };
        const progress = await showProgress(context, { quiet: false }, screen, watched);
        const pages = setInterval(progress.nudge, 50);
        await delay(drawnMs, undefined, { signal });
        clearInterval(pages);
        await progress.end();
        return drawings;
      };
      const idle = await cpuOf(dataDirectory, () => delay(seconds * 1_000, undefined, { signal }));
      // What is done once, such as to compile it, is no cost of drawing for hours.
      await draw(warmUpMs);
      let drawings = 0;
      const drawing = await cpuOf(dataDirectory, async () => {
        drawings = await draw(seconds * 1_000);
      });
      const times = 5;
      const repeat = (work: () => Promise<unknown>) => async () => {
        for (let n = 0; n < times; n += 1) await work();
      };
      const counts = await cpuOf(
        dataDirectory,
        repeat(() => laneCounts(db, names)),
      );
      const lanes = targets.map(({ lane }) => lane);
      const left = await cpuOf(
        dataDirectory,
        repeat(() => runsLeft(db, lanes, { pageSize })),
      );
      const all = await cpuOf(
        dataDirectory,
        repeat(() => feedsNow(db)),
      );
      const share =
        (drawing.node - idle.node + Math.max(0, drawing.postgres - idle.postgres)) / drawing.ms;
      const table = new Table({ head: ['', 'measured', 'aim'], style: { head: [], border: [] } });
      const each = (ms: number) => `${(ms / times).toFixed(1)} ms`;
      const { rows: stored } = await pool.query<{ walks: string }>(
        'select count(*) as walks from etl.walks',
      );
      table.push(
        [
          `part of a core that drawing takes, ${stored[0]?.walks} walks, ${feeds.length} feeds`,
          `${(100 * share).toFixed(2)} %`,
          `below ${100 * most} %`,
        ],
        [
          'of it in node, in Postgres',
          `${((100 * (drawing.node - idle.node)) / drawing.ms).toFixed(2)} %, ${((100 * (drawing.postgres - idle.postgres)) / drawing.ms).toFixed(2)} %`,
          '',
        ],
        ['drawings a second', ((1_000 * drawings) / drawing.ms).toFixed(2), ''],
        ['a look: its time', each(counts.ms), ''],
        ['what is left of all runs: its time', each(left.ms), ''],
        ['all that status tells, drawn from twice a second before: its time', each(all.ms), ''],
        [
          'its part of a core then',
          `${((2 * 100 * (all.node + all.postgres)) / times / 1_000).toFixed(1)} %`,
          '',
        ],
      );
      console.log(table.toString());
      if (share >= most) process.exitCode = 1;
    } finally {
      await pool.end();
    }
  });
});
