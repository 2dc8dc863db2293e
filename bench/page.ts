/**
 * `npm run bench page [-- --walks 500000 --seconds 600]`: what the page's files and each JSON document take on a
 * database with a year of walks; and what part of a core they take, in node and in Postgres, while a client has the
 * page open, beside the same server without one. Exit code 1 if that is 1 % of a core or more.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { migrateUrl } from '../test/harness/client.ts';
import { createPool } from '../src/db/pool.ts';
import { addressText } from '../src/http/access.ts';
import { startHttp } from '../src/http/server.ts';
import { recountCoverage } from '../src/status/verify.ts';
import { statusNow } from '../src/status/status.ts';
import { webAssets } from '../src/http/assets.ts';
import { grow } from '../test/harness/seeded/fill.ts';
import { pageItems, usualBlockMs } from '../test/harness/seeded/lists.ts';
import { interruptSignal, startChild } from './child.ts';
import { cpuOf, describeMachine } from './machine.ts';
import { withServer } from './server.ts';
import { plainLook, tableLines } from '../src/terminal/layout.ts';

const { values } = parseArgs({
  options: {
    walks: { type: 'string', default: '500000' },
    seconds: { type: 'string', default: '600' },
  },
});
const walks = Number(values.walks);
const seconds = Number(values.seconds);
/** Part of a core that a page may take that somebody has open. */
const most = 0.01;
const operations = 200_000;
const times = 5;
const feed = '10/user-operations';
/** What the page reads; the first two again and again while it is open. */
const documents = [
  'status.json',
  'strips.json',
  `coverage.json?feed=${feed}`,
  `throughput.json?hours=24&feed=${feed}`,
  'runs.json?hours=24',
  'queries.json',
  'query.json?name=operations-daily',
  'trace.json?term=105000100',
];
const signal = interruptSignal();

const part = (share: number) => `${(100 * share).toFixed(2)} %`;

/** What a path takes, after a first time that compiles and plans, and how large its answer is. */
async function costOf(dataDirectory: string, url: string) {
  const ask = async () => (await (await fetch(url)).arrayBuffer()).byteLength;
  const size = await ask();
  const { ms, postgres } = await cpuOf(dataDirectory, async () => {
    for (let n = 0; n < times; n += 1) await ask();
  });
  return [
    `${(ms / times).toFixed(0)} ms`,
    `${(postgres / times).toFixed(0)} ms`,
    `${(size / 1e3).toFixed(1)} kB`,
  ];
}

async function measure(pool: Pool, { url, dataDirectory }: { url: string; dataDirectory: string }) {
  await grow(pool, { operations, nowMs: Date.now(), blockMs: usualBlockMs });
  await addTicks(pool);
  const server = await startHttp({
    address: { host: '127.0.0.1', port: 0 },
    metricsAddress: null,
    token: null,
    hosts: [],
    status: async (ready) => statusNow(await ready(), pageItems),
    assets: webAssets,
    version: 'bench',
    commandLine: (command) => command,
    now: () => performance.now(),
  });
  server.use(url);
  try {
    const page = `http://${addressText(server.address)}/`;
    const rows: string[][] = [];
    for (const path of ['', 'app.js', 'app.css', ...documents]) {
      rows.push([`/${path}`, ...(await costOf(dataDirectory, `${page}${path}`))]);
    }
    const head = ['', 'takes', 'of it Postgres', 'size'];
    console.log(tableLines(plainLook, { head, rows }).join('\n'));
    const idle = await cpuOf(dataDirectory, () => delay(seconds * 1_000, undefined, { signal }));
    const viewer = startChild('page-viewer.ts', { url: page }, { signal });
    let readings = 0;
    viewer.process.on('message', () => (readings += 1));
    const open = await cpuOf(dataDirectory, () => delay(seconds * 1_000, undefined, { signal }));
    viewer.process.disconnect();
    await viewer.exited;
    const node = (open.node - idle.node) / open.ms;
    const postgres = Math.max(0, open.postgres - idle.postgres) / open.ms;
    console.log(
      `part of a core while a client has it open for ${seconds} s, ${walks} walks: ${part(node + postgres)} ` +
        `(node ${part(node)}, Postgres ${part(postgres)}), ${readings} readings of the status; aim: below ${part(most)}`,
    );
    if (node + postgres >= most) process.exitCode = 1;
  } finally {
    await server.close();
  }
}

await withServer(async (server) => {
  console.log(await describeMachine(server.url));
  await server.withDatabase(async (url) => {
    await migrateUrl(url);
    const pool = createPool({ url, max: 2, applicationName: 'explorer-etl bench' });
    try {
      await measure(pool, { url, dataDirectory: server.dataDirectory });
    } finally {
      await pool.end();
    }
  });
});

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
  await recountCoverage(drizzle(pool));
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
