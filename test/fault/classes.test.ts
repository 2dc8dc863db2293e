import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished, test } from 'vitest';
import {
  type Fault,
  type SimulatedChain,
  startSimulator,
  statusFaults,
} from '../../simulator/index.ts';
import { openEngine, prepareDatabase } from '../../src/app.ts';
import { loadSettings } from '../../src/config/load.ts';
import { createLog } from '../../src/log.ts';
import { openLane } from '../../src/sync/queue.ts';
import { serve } from '../../src/sync/serve.ts';
import { configuredLanes } from '../../src/sync/targets.ts';
import { freshDatabase } from '../harness/database.ts';
import { hangMs } from '../harness/hang.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { configFolder, eventually } from '../harness/process.ts';
import { differences } from '../harness/tables.ts';

/** Never within a test: feeds that have not succeeded start at once, without their schedule. */
const yearly = '0 0 1 1 *';
const seed = 11;
interface Case {
  readonly fault: Fault;
  /** What the fault does to its feed. */
  readonly state: string;
  /** Whether every feed of the key stops, or only the one that met it. */
  readonly stopsKey?: true;
  /** How many pages came before it; all when absent. */
  readonly after?: number;
}

const throttledForLong: Fault = {
  ...statusFaults['429-bare'],
  headers: { 'retry-after': 3600 },
};

/** A chain for each answer that is not a page: its user operations meet it while the fault lasts. */
const cases: Readonly<Record<string, Case>> = {
  '500': { fault: statusFaults['500'], state: 'degraded' },
  '502-html': { fault: statusFaults['502-html'], state: 'degraded' },
  '503': { fault: statusFaults['503'], state: 'degraded' },
  '504': { fault: statusFaults['504'], state: 'degraded' },
  '200-html': { fault: { status: 200, body: '<html>Sorry</html>' }, state: 'degraded' },
  '200-error': { fault: { status: 200, body: { error: 'oops' } }, state: 'degraded' },
  '400-action': { fault: statusFaults['400-action'], state: 'unsupported' },
  '404-network': { fault: statusFaults['404-network'], state: 'unsupported' },
  '501': { fault: statusFaults['501'], state: 'unsupported' },
  '422': { fault: statusFaults['422'], state: 'failed' },
  '400-token': { fault: statusFaults['400-token'], state: 'failed', after: 1 },
  '429': { fault: throttledForLong, state: 'waiting', stopsKey: true },
  '402-credits': { fault: statusFaults['402-credits'], state: 'waiting', stopsKey: true },
  '401': { fault: statusFaults['401'], state: 'unauthorized', stopsKey: true },
  '402-key': { fault: statusFaults['402-key'], state: 'unauthorized', stopsKey: true },
};

const names = Object.keys(cases);
const pageSize = 10;

const chainOf = (index: number): SimulatedChain => ({
  id: 100 + index,
  name: names[index] ?? '',
  family: 'optimism',
  generation: 'v12',
  userOperations: 25,
  batches: { first: 1, count: 0, blocks: 0 },
  factories: 5,
});

const chains = names.map((_name, index) => chainOf(index));

/** Each chain with a key of its own, as far as keys are stopped. */
const config = {
  explorer: {
    requests_per_second: 1000,
    page_size: pageSize,
    keys: Object.fromEntries(names.map((name, index) => [name, { env: `KEY_${index}` }])),
  },
  chains: chains.map(({ id, name }) => ({
    id,
    name,
    key: name,
    operations: {
      'user-operations': { schedule: yearly, parallel: 1 },
      factories: { schedule: yearly },
    },
  })),
};

const keyOf = (name: string) => `key-of-${name}`;

async function openScene() {
  let isBroken = true;
  const database = await freshDatabase();
  const { pool } = database;
  const states = async (operation: string) => {
    const { rows } = await pool.query<{ name: string; state: string }>(
      'select name, state from etl.feeds join explorer.chains using (chain_id) where operation = $1',
      [operation],
    );
    return Object.fromEntries(rows.map(({ name, state }) => [name, state]));
  };
  const requests = new Map<number, string[]>();
  const simulator = await startSimulator({
    seed,
    chains,
    apiKey: names.map(keyOf),
    faults: ({ chainId, operation, url }) => {
      const found = cases[names[chainId - 100] ?? ''];
      if (!isBroken || found === undefined || operation !== 'user-operations') return null;
      if (found.after !== undefined && !url.searchParams.has('page_token')) return null;
      return found.fault;
    },
    onRequest: ({ chainId, operation }) => {
      requests.set(chainId, [...(requests.get(chainId) ?? []), operation]);
    },
    // What the other feed asks beside is answered once the key is stopped, so it could ask more only against that.
    hold: ({ chainId, operation }) => {
      const name = names[chainId - 100] ?? '';
      const isSent = requests.get(chainId)?.includes('user-operations') ?? false;
      if (!isBroken || !isSent || operation !== 'factories' || !cases[name]?.stopsKey) return null;
      const isStopped = async () => (await states('user-operations'))[name] === cases[name]?.state;
      return eventually('its key to stop', hangMs, isStopped).then(() => undefined);
    },
  });
  onTestFinished(() => simulator.close());
  const settings = loadSettings({
    cwd: await configFolder(config),
    env: {
      EXPLORER_BASE_URL: simulator.url,
      ...Object.fromEntries(names.map((name, index) => [`KEY_${index}`, keyOf(name)])),
    },
  });
  const open = {
    url: database.url,
    pool,
    db: drizzle(pool),
    embedded: null,
    close: async () => 'stopped' as const,
  };
  await prepareDatabase(open);
  const lines: string[] = [];
  const log = createLog('info', (line) => void lines.push(line));
  const engine = await openEngine({ settings, database: open, log, supervise: false });
  const stop = new AbortController();
  const lanes = configuredLanes(settings.chains);
  const serving = serve(lanes, engine, stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await serving;
    await engine.close();
  });
  /** Rests, pauses and the day that unsupported feeds are left alone for are over. */
  const timePasses = async () => {
    await pool.query('update etl.budget set paused_until = now()');
    await pool.query('update etl.feeds set poll_again_at = null');
    await pool.query(
      "update pgboss.job set start_after = now() where name = 'slices' and state = 'created'",
    );
  };
  /** The next scheduled time of those whose run did not stay open. */
  const run = async () => {
    for (const { lane, scope } of lanes) {
      const { rows } = await pool.query(
        "select from etl.feeds where chain_id = $1 and operation = $2 and state <> 'idle'",
        [lane.chain_id, lane.operation],
      );
      if (lane.lane === 'backfill' && rows.length > 0)
        await openLane(engine.db, engine.boss, { lane, scope });
    }
  };
  return { pool, lines, requests, states, timePasses, run, fix: () => void (isBroken = false) };
}

test('each answer that is no page stops what it should, loses nothing, and is over when it ends', async () => {
  const { pool, lines, requests, states, timePasses, run, fix } = await openScene();
  const expected = Object.fromEntries(names.map((name) => [name, cases[name]?.state]));
  await eventually('every fault to show', hangMs, async () => {
    const now = await states('user-operations');
    return names.every((name) => now[name] === expected[name]);
  }).catch(() => undefined);
  expect(await states('user-operations')).toEqual(expected);

  const others = names.filter((name) => cases[name]?.stopsKey !== true);
  await eventually('the other feeds to go on', hangMs, async () => {
    const now = await states('factories');
    return others.every((name) => now[name] === 'idle');
  });
  const { rows: stored } = await pool.query<{ name: string; rows: number }>(
    `select name, count(hash)::int as rows
     from explorer.chains left join explorer.user_operations using (chain_id) group by name`,
  );
  expect(Object.fromEntries(stored.map(({ name, rows }) => [name, rows]))).toEqual(
    Object.fromEntries(names.map((name) => [name, (cases[name]?.after ?? 0) * pageSize])),
  );
  for (const { id, name } of chains.filter((chain) => cases[chain.name]?.stopsKey)) {
    const requested = requests.get(id) ?? [];
    const after = requested.slice(requested.indexOf('user-operations') + 1);
    // The other feed's request, if it was on its way already.
    expect([[], ['factories']], name).toContainEqual(after);
  }

  fix();
  await timePasses();
  await run();
  await eventually('every feed to recover', hangMs, async () => {
    await timePasses();
    const all = [await states('user-operations'), await states('factories')];
    return all.every((now) => names.every((name) => now[name] === 'idle'));
  });
  for (const chain of chains) {
    expect(await differences(pool, seed, chain), chain.name).toEqual({});
  }
  expect(await ledgerFaults(pool, 'under-way')).toEqual({});
  const recovered = (name: string) => {
    const at = names.indexOf(name);
    const [event, whose] = cases[name]?.stopsKey
      ? ['key.accepted', `KEY_${at}:`]
      : ['feed.recovered', `${100 + at}/user-operations`];
    return lines.some((line) => line.includes(event) && line.includes(whose));
  };
  expect(names.filter((name) => !recovered(name))).toEqual([]);
});
