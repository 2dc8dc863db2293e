/**
 * `npm run bench:scrape [-- --walks 500000 --times 50]`: what a scrape of /metrics takes on a database with a
 * year of walks, with and without the snapshot that rests between two readings; what the minute that is noted
 * for the charts takes there, and how large its tables become; and what a signal costs that nobody hears.
 * Exit code 1 when a scrape takes 20 ms or more while the snapshot rests.
 */
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { drizzle } from 'drizzle-orm/node-postgres';
import prettyBytes from 'pretty-bytes';
import type { Pool } from 'pg';
import { migrate } from '../src/db/migrate.ts';
import { createPool } from '../src/db/pool.ts';
import type { Database } from '../src/db/transaction.ts';
import type { StatusDocument } from '../src/documents/status.ts';
import { thinHistory } from '../src/history/thin.ts';
import { noteFeedMinutes } from '../src/history/write.ts';
import { createMetrics } from '../src/http/metrics.ts';
import { installQueues } from '../src/jobs/boss.ts';
import { laneHolders } from '../src/jobs/takeover.ts';
import { feedMinutes } from '../src/report/feed-minute.ts';
import { describeStatus } from '../src/report/status-document.ts';
import { signals } from '../src/signals.ts';
import { grow } from '../test/grown/grow.ts';
import { grownSettings } from '../test/grown/settings.ts';
import { sizeOf } from '../test/grown/size.ts';
import { cpuOf } from './cluster-cpu.ts';
import { describeMachine } from './machine.ts';
import { withServer } from './server.ts';
import { addTicks } from './ticks.ts';

const { values } = parseArgs({
  options: {
    walks: { type: 'string', default: '500000' },
    times: { type: 'string', default: '50' },
  },
});
const walks = Number(values.walks);
const times = Number(values.times);
const operations = 200_000;
/** What a scrape may take, in ms. */
const mostMs = 20;
const signalsTold = 10_000_000;

interface Cost {
  readonly ms: number;
  readonly node: number;
  readonly postgres: number;
}

/** What each of so many runs of a piece of work takes. */
async function each(dataDirectory: string, work: () => Promise<unknown>): Promise<Cost> {
  // The first one compiles and plans.
  await work();
  const { ms, node, postgres } = await cpuOf(dataDirectory, async () => {
    for (let n = 0; n < times; n += 1) await work();
  });
  return { ms: ms / times, node: node / times, postgres: postgres / times };
}

const now = () => performance.now();

/** A scrape that tells what was read before, and one that is read anew for it. */
async function scrapes(
  db: Database,
  dataDirectory: string,
  read: () => Promise<StatusDocument>,
): Promise<{ readonly rested: Cost; readonly anew: Cost; readonly bytes: number }> {
  let status = await read();
  const snapshot = async () => status;
  const metrics = createMetrics({ snapshot, queue: () => laneHolders(db), version: '0.0.0', now });
  try {
    const rested = await each(dataDirectory, () => metrics.scrape());
    const anew = await each(dataDirectory, async () => {
      status = await read();
      await metrics.scrape();
    });
    return { rested, anew, bytes: Buffer.byteLength(await metrics.scrape()) };
  } finally {
    metrics.close();
  }
}

/** Minutes of each feed and lane, and how many bytes the tables have for each of them after a day and for good. */
async function historySizes(pool: Pool): Promise<Record<string, readonly [number, number]>> {
  const db = drizzle(pool);
  const tables = ['feed_minutes', 'lane_minutes'];
  const rowsOf: Readonly<Record<string, string>> = {
    feed_minutes: `select feed, minute, 12.345, 61.5, 600 from etl.feeds`,
    lane_minutes: `select feed, 'live', minute, 4, 180, 20, 0, 4, 80, '{}' from etl.feeds`,
  };
  const sizes: Record<string, readonly [number, number]> = {};
  const fill = async (table: string, from: string, to: string) =>
    pool.query(
      `insert into etl.${table}
       ${rowsOf[table]}, generate_series(date_trunc('minute', now()) - interval '${from}', now() - interval '${to}', '1 minute') as minute
       order by minute, feed`,
    );
  const bytes = async (table: string) => {
    const { rows } = await pool.query<{ bytes: number }>(
      `select (pg_total_relation_size('etl.${table}') / count(*))::float8 as bytes from etl.feeds`,
    );
    return rows[0]?.bytes ?? 0;
  };
  for (const table of tables) {
    await pool.query(`truncate etl.${table}`);
    await fill(table, '1 day', '0 minutes');
    const ofDay = await bytes(table);
    await pool.query(`truncate etl.${table}`);
    // As they come to be: a day is written, and thinned the day after.
    for (let day = 32; day > 0; day -= 1) {
      await fill(table, `${day} days`, `${day - 1} days 1 minute`);
      await thinHistory(db);
      await pool.query(`vacuum etl.${table}`);
    }
    sizes[table] = [ofDay, await bytes(table)];
  }
  return sizes;
}

/** What it costs to tell what nobody hears, in ns. */
function unheard(): number {
  const begun = performance.now();
  for (let n = 0; n < signalsTold; n += 1) signals.poolWait.tell(() => ({ name: 'work', ms: n }));
  return ((performance.now() - begun) * 1e6) / signalsTold;
}

const row = ({ ms, node, postgres }: Cost) =>
  [ms, node, postgres].map((value) => `${value.toFixed(1)} ms`);

async function measure(pool: Pool, dataDirectory: string): Promise<void> {
  const db = drizzle(pool);
  const size = sizeOf(operations, Date.now());
  const settings = grownSettings('http://localhost', size);
  await grow(pool, size, settings.chains);
  await addTicks(pool, walks);
  const { pageSize } = settings.explorer;
  const read = () => describeStatus(db, { pageSize, standby: null });
  const { rested, anew, bytes } = await scrapes(db, dataDirectory, read);
  const minute = await each(dataDirectory, async () =>
    noteFeedMinutes(db, await feedMinutes(db, new Date())),
  );
  const table = new Table({
    head: ['', 'takes', 'of it node', 'Postgres'],
    style: { head: [], border: [] },
  });
  table.push(
    [`a scrape, the snapshot rests (${prettyBytes(bytes)})`, ...row(rested)],
    ['a scrape that reads the snapshot', ...row(anew)],
    ['how current each feed is, once a minute', ...row(minute)],
  );
  console.log(`${walks} walks, ${(await read()).feeds.length} feeds`);
  console.log(table.toString());
  for (const [name, [day, forGood]] of Object.entries(await historySizes(pool))) {
    const told = `${prettyBytes(day)} for a day of minutes, ${prettyBytes(forGood)} for 31 days`;
    console.log(`etl.${name}, each feed${name === 'lane_minutes' ? ' and lane' : ''}: ${told}`);
  }
  console.log(`a signal that nobody hears: ${unheard().toFixed(1)} ns`);
  if (rested.ms >= mostMs) process.exitCode = 1;
}

await withServer(async (server) => {
  console.log(await describeMachine(server.url));
  await server.withDatabase(async (url) => {
    await migrate(url);
    await installQueues(url);
    const pool = createPool({ url, max: 2, applicationName: 'explorer-etl bench' });
    try {
      await measure(pool, server.dataDirectory);
    } finally {
      await pool.end();
    }
  });
});
