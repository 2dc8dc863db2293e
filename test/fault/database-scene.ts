import { drizzle } from 'drizzle-orm/node-postgres';
import { onTestFinished } from 'vitest';
import { type SimulatedChain, type Simulator, startSimulator } from '../../simulator/index.ts';
import { openEngine, prepareDatabase } from '../../src/app.ts';
import { createPool } from '../../src/db/pool.ts';
import type { DatabaseTimeouts } from '../../src/db/timeouts.ts';
import { createLog } from '../../src/log.ts';
import type { OpenDatabase } from '../../src/open-database.ts';
import { serve } from '../../src/sync/serve.ts';
import { configuredLanes } from '../../src/sync/targets.ts';
import type { TestDatabase } from '../harness/database.ts';
import { hangMs } from '../harness/hang.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { eventually } from '../harness/process.ts';
import { type DatabaseProxy, openDatabaseProxy } from '../harness/servers.ts';
import { patient, settingsFor, testKey } from '../harness/sync.ts';
import { differences } from '../harness/tables.ts';
import { yearly } from './drive.ts';

const seed = 23;
const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 600,
  batches: { first: 1, count: 4, blocks: 40 },
  factories: 40,
};

/** Answers slow enough that a fault falls into the work, in ms. */
const latencyMs = 25;
const pageSize = 10;

/** As `workTimeouts`, for tests that wait for its end: statements take milliseconds here. */
export const shortTimeouts: DatabaseTimeouts = {
  statementMs: 3_000,
  answerMs: 4_500,
  idleTransactionMs: 3_000,
};

/** A `start` in this process, at work on a database behind a proxy. */
export interface DatabaseScene {
  /** Not through the proxy. */
  readonly database: Pick<TestDatabase, 'pool' | 'url'>;
  readonly simulator: Simulator;
  readonly proxy: DatabaseProxy;
  /** All log lines so far. */
  readonly log: () => string;
  /** Waits until so many pages more are stored. */
  morePages(count: number): Promise<void>;
  /** Waits until every feed has come to its end by itself. */
  end(): Promise<void>;
  /** What is wrong with tables, ledger and log; all empty when nothing is. */
  faults(): Promise<Record<string, unknown>>;
}

/** Starts to copy a small chain, and resolves when the first pages are stored. */
export async function openDatabaseScene(
  database: Pick<TestDatabase, 'pool' | 'url'>,
  dbTimeouts: DatabaseTimeouts = patient,
): Promise<DatabaseScene> {
  const { pool } = database;
  const simulator = await startSimulator({ seed, chains: [chain], latencyMs });
  onTestFinished(() => simulator.close());
  const proxy = await openDatabaseProxy(database.url);
  onTestFinished(() => proxy.close());
  const direct = openOf(database.url, pool);
  await prepareDatabase(direct);
  const lines: string[] = [];
  const settings = settingsFor({ url: simulator.url, chains: [chain], pageSize });
  const engine = await openEngine({
    settings,
    database: openOf(proxy.url, pool),
    log: createLog('info', (line) => void lines.push(line)),
    supervise: true,
    dbTimeouts,
  });
  const stop = new AbortController();
  const { first, count } = chain.batches;
  const configured = configuredLanes(settings.chains, {
    fromBatch: first,
    toBatch: first + count - 1,
  });
  // What has not succeeded starts at once; a minute in which a schedule fires would open more.
  const lanes = configured.map((lane) => ({ ...lane, cron: yearly }));
  let failure: string | null = null;
  const serving = serve(lanes, engine, stop.signal).catch((error: unknown) => {
    failure = error instanceof Error ? error.message : 'not an error';
  });
  onTestFinished(async () => {
    stop.abort();
    proxy.set('open');
    proxy.cutAll();
    await serving;
    await engine.close();
  });
  const pages = async () => {
    const { rows } = await pool.query<{ pages: number }>(
      'select count(*)::int as pages from etl.pages',
    );
    return rows[0]?.pages ?? 0;
  };
  const morePages = async (wanted: number) => {
    const before = await pages();
    await eventually('more pages', hangMs, async () => (await pages()) >= before + wanted);
  };
  await morePages(3);
  return {
    database,
    simulator,
    proxy,
    log: () => lines.join(''),
    morePages,
    end: () =>
      eventually('the end of every feed', hangMs, async () => {
        const { rows } = await pool.query<{ ended: boolean }>(
          `select count(*) >= 3 and bool_and(state <> 'open') as ended from etl.runs`,
        );
        return rows[0]?.ended ?? false;
      }).then(() => undefined),
    async faults() {
      const said = lines.join('');
      return {
        ...(await differences(pool, seed, chain)),
        ...(await ledgerFaults(pool, 'ended')),
        ...(failure !== null && { 'start ended': failure }),
        ...(said.includes(testKey) && { 'the log has the key': true }),
        ...(/\n\s+at /u.test(said) && { 'the log has a stack': said }),
      };
    },
  };
}

function openOf(url: string, pool: TestDatabase['pool']): OpenDatabase {
  return { url, pool, db: drizzle(pool), embedded: null, close: async () => 'left-running' };
}

/** A pool on a server that the test breaks; it is ended with the test. */
export function poolOn(url: string) {
  const pool = createPool({ url, max: 4, applicationName: 'explorer-etl test' });
  onTestFinished(() => pool.end());
  return pool;
}
