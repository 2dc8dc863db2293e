import type { Pool } from 'pg';
import type {
  Fault,
  OperationName,
  SimulatedChain,
  SimulatorOptions,
} from '../../simulator/index.ts';
import type { Settings } from '../../src/config/settings.ts';
import { tableName } from '../../src/db/column-types.ts';
import type { Timeouts } from '../../src/explorer/client.ts';
import { operations } from '../../src/lists/registry.ts';
import { configuredLanes } from '../../src/sync/feeds.ts';
import { plainChain } from '../harness/sync.ts';
import { differences } from '../harness/tables.ts';
import { openWorld, yearly } from '../harness/world.ts';
import { serveLanes } from './serving.ts';

/** No known chain has such an id, so that all are named after it. */
export const firstId = 900_000;

export interface StruckOptions extends Pick<SimulatorOptions, 'apiKey' | 'onRequest' | 'hold'> {
  readonly seed: number;
  /** Of the faults; each has a chain. */
  readonly names: readonly string[];
  readonly chainOf: (name: string) => Partial<SimulatedChain>;
  /** Which lists of a chain meet its fault. */
  readonly struck: readonly OperationName[];
  /** Opened once for each list that meets it: some faults count pages. */
  readonly faultOf: (name: string) => Fault;
  /** Which requests meet it; all if absent. */
  readonly isMet?: (name: string, url: URL) => boolean;
  readonly settingsOf: (
    explorerUrl: string,
    chains: readonly SimulatedChain[],
  ) => Settings | Promise<Settings>;
  readonly timeouts?: Partial<Timeouts>;
}

/** What is known of a feed. */
export interface FeedFacts {
  readonly reason: string | null;
  readonly stored: number;
  readonly quarantined: number;
}

/** A `start` in this process, at work on a chain for each fault, and what came to pass, by fault. */
export async function openStruckWorld(options: StruckOptions) {
  const { seed, names, struck, isMet, settingsOf, timeouts, ...service } = options;
  const chains = names.map((name, index) => ({
    ...plainChain,
    id: firstId + index,
    name: `chain-${firstId + index}`,
    ...options.chainOf(name),
  }));
  const faults = new Map(struck.map((operation) => [operation, names.map(options.faultOf)]));
  let isBroken = true;
  const world = await openWorld({
    ...service,
    seed,
    chain: chains[0] ?? plainChain,
    chains,
    faults({ chainId, operation, url }) {
      const index = chainId - firstId;
      if (!isBroken || isMet?.(names[index] ?? '', url) === false) return null;
      return faults.get(operation as OperationName)?.[index] ?? null;
    },
  });
  const { pool, db } = world.database;
  const settings = await settingsOf(world.simulator.url, chains);
  const lanes = configuredLanes(settings.chains).map((lane) => ({ ...lane, cron: yearly }));
  const serving = await serveLanes(world.database, {
    settings,
    lanes,

    ...(timeouts !== undefined && { timeouts }),
  });
  const facts = (operation: OperationName) => readFacts(pool, names, operation);
  return {
    ...serving,
    pool,
    db,
    facts,
    /** The class of each feed's failure. */
    async failures(operation: OperationName): Promise<Readonly<Record<string, string | null>>> {
      const found = Object.entries(await facts(operation));
      return Object.fromEntries(
        found.map(([name, { reason }]) => [name, reason?.split(':')[0] ?? null]),
      );
    },
    /** How the tables of each chain differ from the truth. */
    async differences() {
      const found: Record<string, object> = {};
      for (const [index, chain] of chains.entries()) {
        found[names[index] ?? ''] = await differences(pool, seed, chain);
      }
      return found;
    },
    /** Whether the faults last. */
    isBroken: () => isBroken,
    /** The faults end. */
    fix: () => void (isBroken = false),
  };
}

export type StruckWorld = Awaited<ReturnType<typeof openStruckWorld>>;

async function readFacts(pool: Pool, names: readonly string[], operation: OperationName) {
  const { rows } = await pool.query<FeedFacts & { index: number }>(
    `select (chain_id - $2)::int as index, feeds.reason,
            (select count(*)::int from ${tableName(operations[operation].table)} as row
             where row.chain_id = feeds.chain_id) as stored,
            (select count(distinct raw_hash)::int from etl.quarantine as item
             where item.chain_id = feeds.chain_id and item.operation = feeds.operation) as quarantined
     from etl.feeds where operation = $1`,
    [operation, firstId],
  );
  return Object.fromEntries(rows.map(({ index, ...facts }) => [names[index] ?? index, facts]));
}
