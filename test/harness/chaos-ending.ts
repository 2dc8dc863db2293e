import type { Pool } from 'pg';
import type { SimulatedChain } from '../../simulator/index.ts';
import { truthAt } from './truth/truth.ts';
import { ledgerFaults } from './ledger.ts';
import { watchedDifferences } from './tables.ts';
import { startProgram, type ProgramEnvironment } from './process.ts';

/** A world that has come to stand, and who has copied it. */
export interface Rest {
  readonly pool: Pool;
  readonly seed: number;
  readonly chain: SimulatedChain;
  /** Simulated ms since the start at which it stands. */
  readonly atMs: number;
  /** For commands: not through the proxy. */
  readonly place: ProgramEnvironment;
  readonly note: (event: string) => void;
  readonly signal: AbortSignal | undefined;
}

/**
 * Rounds of `sync` and `backfill --again` until the tables are true. A poll above the newest batch asks
 * for one number, so one behind a gap may take some; and an operation that has left between two
 * walks side by side is seen to when the pages fall otherwise (src/sync/SPEC.md, known gaps).
 */
const mostRounds = 8;

/** A command that has not ended by then hangs, in ms: the longest reads a whole list again. */
const longestMs = 600_000;

/**
 * Days later a person has the lists read to their present end, and does what `verify` asks for.
 *
 * @returns everything that is not as it should be
 */
export async function endAsPerson(rest: Rest): Promise<Record<string, unknown>> {
  const faults: Record<string, unknown> = {};
  const run = async (...args: string[]) => {
    const program = startProgram(args, rest.place);
    const { code } = await program.ended(longestMs);
    rest.signal?.throwIfAborted();
    if (code !== 0) faults[`${args.join(' ')}: exit code ${code}`] = program.output.slice(-2000);
    return program.stdout;
  };
  let found = await tableFaults(rest);
  for (let round = 0; round < mostRounds && (round === 0 || found !== null); round += 1) {
    rest.note('closing round');
    await run('sync', '--quiet');
    await run('backfill', '--again', '--operation', 'user-operations', 'bundles', '--quiet');
    found = await tableFaults(rest);
  }
  await clearQuarantine(rest, run);
  await run('repair');
  await run('verify');
  return { ...faults, ...(await tableFaults(rest)), ...(await lasting(rest.pool)) };
}

/**
 * An item that the service damaged once is no row by any version's rules, and its sound successor is
 * one already, as the tables show: a person who has looked at it drops it.
 */
async function clearQuarantine(
  { place, note }: Rest,
  run: (...args: string[]) => Promise<string>,
): Promise<void> {
  await startProgram(['quarantine', 'retry'], place).ended(longestMs);
  const { items: kept } = JSON.parse(await run('quarantine', 'list', '--json')) as {
    readonly items: readonly { id: number }[];
  };
  if (kept.length === 0) return;
  for (let _ = 0; _ < kept.length; _ += 1) note('damaged item dropped');
  await run('quarantine', 'drop', ...kept.flatMap(({ id }) => ['--id', String(id)]));
}

async function tableFaults(rest: Rest): Promise<Record<string, unknown> | null> {
  const { pool, seed, chain, atMs } = rest;
  const known = {
    ...(await knownRanks(rest)),
    block_reorgs: visibleReorgs(truthAt(seed, chain, {}, atMs).block_reorgs),
  };
  const found = {
    ...(await watchedDifferences(pool, { seed, chain, scope: {} }, atMs, known)),
    ...(await ledgerFaults(pool, 'under-way')),
  };
  return Object.keys(found).length === 0 ? null : found;
}

/** Of a ranked item that is missing only the counts that a ranking saw last can be known. */
async function knownRanks({ pool, seed, chain, atMs }: Rest) {
  const tables = truthAt(
    seed,
    chain,
    { operations: ['factories', 'bundlers', 'paymasters'] },
    atMs,
  );
  const known: Record<string, Record<string, unknown>[]> = {};
  for (const table of ['factories', 'bundlers', 'paymasters'] as const) {
    const { rows } = await pool.query<Record<string, unknown>>(
      `select * from explorer.${table} where chain_id = $1`,
      [chain.id],
    );
    const stored = new Map(rows.map((row) => [row['address_hash'], row]));
    known[table] = tables[table].map((row) => {
      const last = row['rank'] === null ? stored.get(row['address_hash']) : undefined;
      const counts = Object.entries(last ?? {}).filter(([name]) => name.startsWith('total_'));
      return {
        ...row,
        ...Object.fromEntries(counts.map(([name, count]) => [name, Number(count)])),
      };
    });
  }
  return known;
}

type Reorgs = ReturnType<typeof truthAt>['block_reorgs'];

/**
 * All that one who checks now and then may see of reorganisations, the oldest first: of several that a
 * block went through between two checks, that its first hash became the last.
 */
function visibleReorgs(reorgs: Reorgs): Reorgs {
  const ofHeights = Map.groupBy(reorgs, ({ height }) => height);
  return [...ofHeights.values()].flatMap((steps) =>
    steps.flatMap((first, place) =>
      steps.slice(place).map((last) => ({ ...first, new_hash: last['new_hash'] })),
    ),
  );
}

/** Walks may have failed on the way, and runs with them; nothing may be left that is under way. */
async function lasting(pool: Pool): Promise<Record<string, unknown>> {
  const checks = {
    'a walk is under way': `
      select walks.* from etl.walks join etl.runs on runs.id = run_id
      where walks.state = 'running' and runs.state in ('open', 'interrupted')`,
    'a run is open': "select * from etl.runs where state = 'open'",
    'a feed is not at rest': "select * from etl.feeds where state <> 'idle'",
  };
  const found: Record<string, unknown> = {};
  for (const [fault, query] of Object.entries(checks)) {
    const { rows } = await pool.query(query);
    if (rows.length > 0) found[fault] = rows.slice(0, 3);
  }
  return found;
}
