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
import type { Screen } from '../src/cli/screen.ts';
import { migrate } from '../src/db/migrate.ts';
import { createPool } from '../src/db/pool.ts';
import { configuredLanes } from '../src/feeds/lanes.ts';
import { laneCounts, runsLeft } from '../src/report/progress.ts';
import { feedsNow } from '../src/report/lane-state.ts';
import { grow } from '../test/grown/grow.ts';
import { plainOutput } from '../test/harness/plain-output.ts';
import { grownSettings } from '../test/grown/settings.ts';
import { sizeOf } from '../test/grown/size.ts';
import { cpuOf } from './cluster-cpu.ts';
import { interruptSignal } from './interrupt.ts';
import { describeMachine } from './machine.ts';
import { withServer } from './server.ts';
import { addTicks } from './ticks.ts';

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
/** How often a look is repeated that is timed. */
const times = 5;
const signal = interruptSignal();

const nothing = () => undefined;

/** What is drawn, on a terminal of which nobody sees anything, and a page committed twenty times a second. */
async function draw(watched: Parameters<typeof showProgress>[3], drawnMs: number): Promise<number> {
  let drawings = 0;
  const nowhere = new Writable({ write: (_text, _encoding, done) => done() });
  const update = createLogUpdate(nowhere, { showCursor: true });
  const screen: Screen = {
    look: { isTerminal: true, columns: 80, isColoured: true },
    write: () => undefined,
    lines(lines) {
      drawings += 1;
      update(lines.join('\n'));
    },
    clear: () => update.clear(),
    done: () => update.done(),
  };
  const world = { env: {}, cwd: '/', args: [], signal, stdout: nothing, stderr: nothing };
  const progress = await showProgress(
    { ...plainOutput, ...world },
    { quiet: false },
    screen,
    watched,
  );
  const pages = setInterval(() => progress.nudge(), 50);
  await delay(drawnMs, undefined, { signal });
  clearInterval(pages);
  await progress.end();
  return drawings;
}

const part = (share: number) => `${(100 * share).toFixed(2)} %`;
const each = ({ ms }: { readonly ms: number }) => `${(ms / times).toFixed(1)} ms`;

/** What drawing costs, and the looks that it is made of. */
async function measure(pool: Pool, dataDirectory: string): Promise<void> {
  const db = drizzle(pool);
  const size = sizeOf(operations, Date.now());
  const settings = grownSettings('http://localhost', size);
  await grow(pool, size, settings.chains);
  await addTicks(pool, walks);
  const targets = configuredLanes(settings.chains);
  const feeds = watchedFeeds(settings, targets);
  const { pageSize } = settings.explorer;
  const watched = { db, feeds, pageSize, mostPages: null };
  const idle = await cpuOf(dataDirectory, async () => {
    // The work that commits pages wakes the process as often without anybody drawing.
    const pages = setInterval(nothing, 50);
    await delay(seconds * 1_000, undefined, { signal });
    clearInterval(pages);
  });
  // What is done once, such as to compile it, is no cost of drawing for hours.
  await draw(watched, warmUpMs);
  let drawings = 0;
  const drawing = await cpuOf(dataDirectory, async () => {
    drawings = await draw(watched, seconds * 1_000);
  });
  const names = feeds.map(({ feed }) => feed);
  const lanes = targets.map(({ lane }) => lane);
  const repeat = (work: () => Promise<unknown>) =>
    cpuOf(dataDirectory, async () => {
      for (let n = 0; n < times; n += 1) await work();
    });
  const counts = await repeat(() => laneCounts(db, names));
  const left = await repeat(() => runsLeft(db, lanes, { pageSize }));
  const all = await repeat(() => feedsNow(db));
  const { rows } = await pool.query<{ walks: string }>('select count(*) as walks from etl.walks');
  const node = (drawing.node - idle.node) / drawing.ms;
  const postgres = Math.max(0, drawing.postgres - idle.postgres) / drawing.ms;
  const table = new Table({ head: ['', 'measured', 'aim'], style: { head: [], border: [] } });
  table.push(
    [
      `part of a core that drawing takes, ${rows[0]?.walks} walks, ${feeds.length} feeds`,
      part(node + postgres),
      `below ${part(most)}`,
    ],
    ['of it in node, in Postgres', `${part(node)}, ${part(postgres)}`, ''],
    ['drawings a second', ((1_000 * drawings) / drawing.ms).toFixed(2), ''],
    ['a look: its time', each(counts), ''],
    ['what is left of all runs: its time', each(left), ''],
    ['all that status tells of feeds, twice a second: its time', each(all), ''],
    ['part of a core that this takes', part((2 * (all.node + all.postgres)) / times / 1_000), ''],
  );
  console.log(table.toString());
  if (node + postgres >= most) process.exitCode = 1;
}

await withServer(async (server) => {
  console.log(await describeMachine(server.url));
  await server.withDatabase(async (url) => {
    await migrate(url);
    const pool = createPool({ url, max: 2, applicationName: 'explorer-etl bench' });
    try {
      await measure(pool, server.dataDirectory);
    } finally {
      await pool.end();
    }
  });
});
