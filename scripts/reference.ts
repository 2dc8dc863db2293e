/**
 * `node scripts/reference.ts --write FILE` or `--against FILE`: what the program leaves behind for a
 * fixed set of worlds: each table of schema `explorer` column by column, the number of requests, and
 * the verdict of `verify`. `--against` prints what differs and exits with 1: rows and verdicts must be
 * equal, requests no more. `--seeds 1-20` chooses worlds.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Pool } from 'pg';
import { withServer } from '../bench/server.ts';
import {
  type Faults,
  type Generation,
  type SimulatedChain,
  type Simulator,
  startInstantMs,
  startSimulator,
} from '../simulator/index.ts';
import { openFault } from '../test/harness/hostile-faults.ts';
import { prepareDatabase } from '../src/app.ts';
import { verifyFeeds } from '../src/status/verify.ts';
import { runSync } from '../test/harness/sync.ts';

const { values } = parseArgs({
  options: {
    write: { type: 'string' },
    against: { type: 'string' },
    seeds: { type: 'string', default: '1-20' },
  },
});

type Weather = 'calm' | 'rough';

/** What one world leaves: digests by `table.column`, requests, what is open by feed. */
interface Outcome {
  readonly columns: Readonly<Record<string, string>>;
  readonly requests: number;
  readonly open: Readonly<Record<string, number>>;
}

const generations: readonly Generation[] = ['v11', 'v12'];
const weathers: readonly Weather[] = ['calm', 'rough'];
const minuteMs = 60_000;
/** When all lists are read. */
const rounds = [0, 15, 30, 90];
/** From here on the service is honest, so that all it lied about can be read again. */
const honestFromMinute = 30;
const lists = ['user-operations', 'optimism-batches', 'optimism-batch-blocks', 'factories'];
/** Columns that differ from run to run: times of observation, numbers of pages, digests. */
const passing = /(?:_at|page_id|since|observed)$|digest/;

const chainOf = (generation: Generation): SimulatedChain => ({
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation,
  userOperations: 300,
  batches: { first: 1, count: 12, blocks: 20 },
  factories: 60,
  oddities: ['duplicates-in-page', 'max-wei'],
  motion: {
    operationsPerMinute: 4,
    latePercent: 5,
    latestLateMs: 10 * minuteMs,
    orphanedPercent: 2,
    reorgsPerDay: 96,
    factoryChangeMs: minuteMs,
  },
});

/** Of these, one in ten requests meets one. */
const roughFaults = (['500', 'cut-after-item', 'wrong-order', 'number-negative'] as const).map(
  openFault,
);

/**
 * A fault by what is requested, and how often it was: so it does not matter in which order requests
 * come, and a repeated request gets on.
 */
function faultsOf(seed: number, isRough: () => boolean): Faults {
  const times = new Map<string, number>();
  return ({ url, operation }) => {
    if (!isRough() || operation === 'unknown') return null;
    const query = [...url.searchParams]
      .filter(([name]) => name !== 'apikey')
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const what = `${seed} ${url.pathname} ${JSON.stringify(query)}`;
    const time = (times.get(what) ?? 0) + 1;
    times.set(what, time);
    const draw = createHash('sha256').update(`${what} ${time}`).digest().readUInt16BE();
    return draw % 10 === 0 ? (roughFaults[(draw >> 8) % roughFaults.length] ?? null) : null;
  };
}

async function playWorld(
  url: string,
  seed: number,
  generation: Generation,
  weather: Weather,
): Promise<Outcome> {
  let nowMs = 0;
  let isRough = weather === 'rough';
  const chain = chainOf(generation);
  const simulator: Simulator = await startSimulator({
    seed,
    chains: [chain],
    clock: () => nowMs,
    faults: faultsOf(seed, () => isRough),
    onRequest: () => stopAfter.count(),
  });
  const stopAfter = new Stop();
  const pool = new Pool({ connectionString: url, max: 8 });
  // Its idle connections end when the database is dropped, at times before the pool has.
  pool.on('error', () => undefined);
  const sync = async (stopRequests: number) => {
    const signal = stopAfter.begin(stopRequests);
    const at = new Date(startInstantMs + nowMs);
    const run = {
      url: simulator.url,
      chains: [chain],
      pageSize: 20,
      operations: lists,
      at,
      signal,
    };
    await runSync({ url, pool }, { ...run, isRangeGiven: false, overlapMs: 20 * minuteMs });
  };
  try {
    await prepareDatabase({ url, pool });
    for (const minutes of rounds) {
      nowMs = minutes * minuteMs;
      // Late rows and reorganisations of the calm hours come while the service is honest again.
      isRough = weather === 'rough' && minutes < honestFromMinute;
      if (isRough) for (const requests of [5, 15]) await sync(requests);
      await sync(Infinity);
    }
    const feeds = await verifyFeeds(drizzle(pool));
    const open = Object.fromEntries(feeds.map((feed) => [feed.feed, feed.open.length]));
    return { columns: await digests(pool), requests: simulator.requests, open };
  } finally {
    await pool.end();
    await simulator.close();
  }
}

/** Aborts after so many requests, as Ctrl-C would. */
class Stop {
  #left = Infinity;
  #controller = new AbortController();

  begin(requests: number): AbortSignal {
    this.#left = requests;
    this.#controller = new AbortController();
    return this.#controller.signal;
  }

  count(): void {
    this.#left -= 1;
    if (this.#left <= 0) this.#controller.abort();
  }
}

/** A digest of each column of each table, its rows ordered by all that does not pass. */
async function digests(pool: Pool): Promise<Record<string, string>> {
  const { rows: columns } = await pool.query<{ table: string; column: string }>(`
    select table_name as table, column_name as column
    from information_schema.tables
    join information_schema.columns using (table_schema, table_name)
    where table_schema = 'explorer' and table_type = 'BASE TABLE'
    order by 1, 2
  `);
  const found: Record<string, string> = {};
  for (const table of new Set(columns.map((column) => column.table))) {
    const kept = columns
      .filter((each) => each.table === table && !passing.test(each.column))
      .map(({ column }) => column);
    const { rows } = await pool.query<Record<string, string | null>>(
      `select ${kept.map((column) => `"${column}"::text`).join(', ')} from explorer."${table}"`,
    );
    const sorted = rows
      .map((row) => kept.map((column) => row[column] ?? ''))
      .sort((a, b) => (a.join() < b.join() ? -1 : 1));
    for (const [place, column] of kept.entries()) {
      const hash = createHash('sha256').update(sorted.map((row) => row[place]).join('\n'));
      found[`${table}.${column}`] = `${sorted.length} ${hash.digest('hex').slice(0, 16)}`;
    }
  }
  return found;
}

const [first = 1, last = first] = values.seeds.split('-').map(Number);
const outcomes: Record<string, Outcome> = {};
await withServer(async (server) => {
  for (let seed = first; seed <= last; seed += 1) {
    for (const generation of generations) {
      for (const weather of weathers) {
        const name = `${seed} ${generation} ${weather}`;
        const outcome = await server.withDatabase((url) =>
          playWorld(url, seed, generation, weather),
        );
        outcomes[name] = outcome;
        console.log(name, outcome.requests, JSON.stringify(outcome.open));
      }
    }
  }
});
if (values.write !== undefined)
  writeFileSync(values.write, `${JSON.stringify(outcomes, null, 1)}\n`);
if (values.against !== undefined) {
  const before = JSON.parse(readFileSync(values.against, 'utf8')) as Record<string, Outcome>;
  const found = Object.entries(outcomes).flatMap(([name, now]) =>
    differences(name, before[name], now),
  );
  console.log(found.length === 0 ? 'equal' : found.join('\n'));
  if (found.length > 0) process.exitCode = 1;
}

function differences(name: string, before: Outcome | undefined, now: Outcome): string[] {
  if (before === undefined) return [`${name}: not in the reference`];
  const columns = new Set([...Object.keys(before.columns), ...Object.keys(now.columns)]);
  const rows = [...columns].filter((column) => before.columns[column] !== now.columns[column]);
  const feeds = Object.keys({ ...before.open, ...now.open });
  // Walks that run side by side, and are killed, do not make the same requests every time.
  const isRough = name.endsWith('rough');
  const most = before.requests * (isRough ? 1.05 : 1.01);
  const apart = (feed: string) => Math.abs((before.open[feed] ?? 0) - (now.open[feed] ?? 0));
  const open = feeds.filter((feed) => apart(feed) > (isRough ? 1 : 0));
  return [
    ...rows.map(
      (column) => `${name}: ${column}: ${before.columns[column]} → ${now.columns[column]}`,
    ),
    ...open.map((feed) => `${name}: open in ${feed}: ${before.open[feed]} → ${now.open[feed]}`),
    ...(now.requests > most ? [`${name}: ${before.requests} → ${now.requests} requests`] : []),
  ];
}
