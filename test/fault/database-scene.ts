import { onTestFinished } from 'vitest';
import type { DatabaseTimeouts } from '../../src/db/pool.ts';
import { configuredLanes } from '../../src/sync/feeds.ts';
import type { OpenDatabase } from '../harness/database.ts';
import { testKey } from '../harness/explorer.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { eventually } from '../harness/process.ts';
import { patient } from '../harness/engines.ts';
import { plainChain, settingsFor } from '../harness/sync.ts';
import { differences } from '../harness/tables.ts';
import { openWorld, yearly } from '../harness/world.ts';
import { serveLanes } from './serving.ts';

const batches = { first: 1, count: 4, blocks: 40 };
const chain = { ...plainChain, userOperations: 600, batches, factories: 40 };

/** Answers slow enough that a fault falls into the work, in ms. */
const latencyMs = 25;
const pageSize = 10;

/** As `workTimeouts`, for tests that wait for its end: statements take milliseconds here. */
export const shortTimeouts: DatabaseTimeouts = {
  answerMs: 4_500,
  server: { statement_timeout: 3_000, idle_in_transaction_session_timeout: 3_000 },
};

/** A `start` in this process that copies a small chain into a database behind a proxy; it has stored the first pages. */
export async function openDatabaseScene(
  database: OpenDatabase,
  dbTimeouts: DatabaseTimeouts = patient,
) {
  const { pool, query } = database;
  const world = await openWorld({ seed: 23, chain, database, latency: () => latencyMs });
  const { seed, simulator, proxy } = world;
  const settings = settingsFor({ url: simulator.url, chains: [chain], pageSize });
  const range = { fromBatch: batches.first, toBatch: batches.count };
  // What has not succeeded starts at once; a minute in which a schedule fires would open more.
  const lanes = configuredLanes(settings.chains, range).map((lane) => ({ ...lane, cron: yearly }));
  const { lines, failure } = await serveLanes(
    { pool, url: proxy.url },
    { settings, lanes, dbTimeouts },
  );
  onTestFinished(() => {
    proxy.set('open');
    proxy.cutAll();
  });
  const pages = async () => (await query('select from etl.pages')).length;
  const morePages = async (wanted: number) => {
    const before = await pages();
    await eventually('more pages', async () => (await pages()) >= before + wanted);
  };
  await morePages(3);
  return {
    ...world,
    /** All log lines so far. */
    log: () => lines.join(''),
    /** Waits until so many pages more are stored. */
    morePages,
    /** Waits until every feed has come to its end by itself. */
    async end() {
      await eventually('the end of every feed', async () => {
        const rows = await query(
          `select count(*) >= 3 and bool_and(state <> 'open') as ended from etl.runs`,
        );
        return rows[0]?.ended;
      });
    },
    /** What is wrong with tables, ledger and log; all empty when nothing is. */
    async faults() {
      const said = lines.join('');
      return {
        ...(await differences(pool, seed, chain)),
        ...(await ledgerFaults(pool, 'ended')),
        ...(failure() !== null && { 'start ended': failure() }),
        ...(said.includes(testKey) && { 'the log has the key': true }),
        ...(/\n\s+at /u.test(said) && { 'the log has a stack': said }),
      };
    },
  };
}

export type DatabaseScene = Awaited<ReturnType<typeof openDatabaseScene>>;
