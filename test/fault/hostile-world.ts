import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import {
  type FaultName,
  openFault,
  type OperationName,
  redirectTo,
  type SimulatedChain,
  startSimulator,
} from '../../simulator/index.ts';
import { openEngine, prepareDatabase } from '../../src/app.ts';
import type { ChainSettings, Settings } from '../../src/config/settings.ts';
import { createLog } from '../../src/log.ts';
import { openLane } from '../../src/sync/queue.ts';
import { serve } from '../../src/sync/serve.ts';
import { configuredLanes, dueLanes } from '../../src/sync/targets.ts';
import { answering } from '../harness/answers.ts';
import { createTestDatabase } from '../harness/database.ts';
import { settingsFor, testKey } from '../harness/sync.ts';
import { differences, type TableDifference } from '../harness/tables.ts';

/** Never within a test: feeds that have not succeeded start at once, without their schedule. */
const yearly = '0 0 1 1 *';
const seed = 17;
const pageSize = 10;
const hourMs = 60 * 60 * 1000;
/** A poll deeper than any list goes back, due at each run of these worlds. */
const resweep = [{ depthMs: 100 * 365 * 24 * hourMs, everyMs: 24 * hourMs }];
/** From one run to the next: no batch rests longer, and no rule. */
const runMs = 25 * hourMs;
/** No known chain has such an id, so that all are named after it. */
const firstId = 900_000;

/**
 * Short, so that what is slow is given up while one looks, and long beside what a sound answer takes;
 * each attempt has them again.
 */
export const timeouts = { connectMs: 8000, headersMs: 3000, bodyMs: 8000, totalMs: 6000 };

/** A list that meets a fault holds some pages, or more than a thousand of one item. */
export const isLong = (name: FaultName) => name === 'cursor-circle-of-1000';

function chainOf(name: FaultName, index: number, struck: readonly OperationName[]): SimulatedChain {
  const isStruck = (operation: OperationName) => struck.includes(operation);
  const long = { first: 1, count: 1, blocks: 1500 };
  const short = { first: 1, count: isStruck('optimism-batch-blocks') ? 3 : 0, blocks: 30 };
  return {
    id: firstId + index,
    name: `chain-${firstId + index}`,
    family: 'optimism',
    generation: 'v12',
    userOperations: isStruck('user-operations') ? (isLong(name) ? 1010 : 45) : 15,
    batches: isStruck('optimism-batch-blocks') && isLong(name) ? long : short,
    factories: isStruck('factories') ? (isLong(name) ? 1010 : 45) : 5,
  };
}

/** What is known of a feed. */
export interface FeedFacts {
  readonly state: string;
  readonly reason: string | null;
  readonly stored: number;
  readonly quarantined: number;
}

/** Feeds that meet a fault each, and neighbours of the same chains that meet none. */
export interface HostileWorld {
  readonly pool: Pool;
  readonly lines: readonly string[];
  /** How many requests came to the host that the redirect names. */
  readonly elsewhere: () => number;
  /** By fault. */
  facts(operation: OperationName): Promise<Readonly<Record<string, FeedFacts>>>;
  /** How the tables of each fault's chain differ from the truth. */
  differences(): Promise<Readonly<Record<string, Readonly<Record<string, TableDifference>>>>>;
  /** The faults end. */
  fix(): void;
  /** Rests are over. */
  timePasses(): Promise<void>;
  /** The next scheduled time: all lanes that have something to do. */
  run(): Promise<void>;
  /** Deletes what is known of the batches of some faults' chains, as a person may. */
  forgetBatches(of: readonly string[]): Promise<void>;
  /** Whether no run is open any more. */
  isAtRest(): Promise<boolean>;
  close(): Promise<void>;
}

/** Settings with a rule that reads again all there is, so that what came damaged does not stay. */
function settingsOf(
  url: string,
  chains: readonly SimulatedChain[],
  operations: readonly OperationName[],
): Settings {
  const settings = settingsFor({ url, chains, operations, pageSize, resweep });
  const withoutSchedule = (chain: ChainSettings): ChainSettings => ({
    ...chain,
    operations: Object.fromEntries(
      Object.entries(chain.operations).map(([name, own]) => [name, { ...own, schedule: yearly }]),
    ),
  });
  return { ...settings, chains: settings.chains.map(withoutSchedule) };
}

async function listenElsewhere() {
  let requests = 0;
  const service = await answering(() => {
    requests += 1;
    return { body: { items: [], next_page_params: null } };
  });
  return { ...service, requests: () => requests };
}

/** Which lists of a chain meet its fault, and which one goes on beside them. */
export interface Roles {
  readonly struck: readonly OperationName[];
  readonly neighbour: OperationName;
}

/** Starts workers on a chain for each of the faults, which its struck lists meet. */
export async function openHostileWorld(
  names: readonly FaultName[],
  { struck, neighbour }: Roles,
): Promise<HostileWorld> {
  const chains = names.map((name, index) => chainOf(name, index, struck));
  const elsewhere = await listenElsewhere();
  // Each list has its own: some faults remember what they did.
  const open = (name: FaultName) =>
    name === 'redirect' ? redirectTo(elsewhere.url) : openFault(name);
  const faults = Object.fromEntries(
    struck.map((operation) => [operation, names.map(open)] as const),
  );
  let isBroken = true;
  const simulator = await startSimulator({
    seed,
    chains,
    apiKey: testKey,
    faults: ({ chainId, operation }) =>
      isBroken ? (faults[operation]?.[chainId - firstId] ?? null) : null,
  });
  const database = await createTestDatabase();
  const { pool, url } = database;
  const settings = settingsOf(simulator.url, chains, [...struck, neighbour]);
  const close = async () => 'stopped' as const;
  const opened = { url, pool, db: drizzle(pool), embedded: null, close };
  await prepareDatabase(opened);
  const lines: string[] = [];
  const log = createLog('info', (line) => void lines.push(line));
  const composed = await openEngine({
    settings,
    database: opened,
    log,
    supervise: false,
    timeouts,
  });
  let passedMs = 0;
  const engine = { ...composed, clock: () => new Date(Date.now() + passedMs) };
  const stop = new AbortController();
  const lanes = configuredLanes(settings.chains);
  const serving = serve(lanes, engine, stop.signal);
  return {
    pool,
    lines,
    elsewhere: elsewhere.requests,
    facts: (operation) => readFacts(pool, names, operation),
    async differences() {
      const found: Record<string, Record<string, TableDifference>> = {};
      for (const [index, chain] of chains.entries()) {
        found[names[index] ?? ''] = await differences(pool, seed, chain);
      }
      return found;
    },
    fix: () => void (isBroken = false),
    async timePasses() {
      await pool.query('update etl.feeds set poll_again_at = null');
      await pool.query(
        "update pgboss.job set start_after = now() where name = 'slices' and state = 'created'",
      );
    },
    async run() {
      passedMs += runMs;
      for (const { lane, scope } of await dueLanes(engine.db, lanes, 'schedule', engine.clock())) {
        await openLane(engine.db, engine.boss, { lane, scope });
      }
    },
    async forgetBatches(of) {
      const ids = chains.flatMap(({ id }, index) => (of.includes(names[index] ?? '') ? id : []));
      await pool.query('delete from explorer.read_batches where chain_id = any($1)', [ids]);
    },
    async isAtRest() {
      const { rows } = await pool.query("select from etl.runs where state = 'open' limit 1");
      return rows.length === 0;
    },
    async close() {
      stop.abort();
      await serving;
      await engine.close();
      await simulator.close();
      await elsewhere.close();
      await database.drop();
    },
  };
}

const tableOf: Readonly<Record<OperationName, string>> = {
  'user-operations': 'user_operations',
  'optimism-batch-blocks': 'blocks',
  'optimism-batches': 'listed_batches',
  factories: 'factories',
};

async function readFacts(pool: Pool, names: readonly FaultName[], operation: OperationName) {
  const { rows } = await pool.query<FeedFacts & { chain_id: string }>(
    `select chain_id, state, feeds.reason,
            (select count(*)::int from explorer.${tableOf[operation]} as row
             where row.chain_id = feeds.chain_id) as stored,
            (select count(distinct raw_hash)::int from etl.quarantine as item
             where item.chain_id = feeds.chain_id and item.operation = feeds.operation) as quarantined
     from etl.feeds where operation = $1`,
    [operation],
  );
  return Object.fromEntries(
    rows.map(({ chain_id, ...facts }) => [names[Number(chain_id) - firstId] ?? chain_id, facts]),
  );
}
