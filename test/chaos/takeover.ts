import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { createPool } from '../../src/db/pool.ts';
import { startSimulator, type SimulatedChain } from '../../simulator/index.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { differences } from '../harness/tables.ts';
import {
  eventually,
  startProgram,
  type Child,
  type ProgramEnvironment,
} from '../harness/process.ts';

export interface TakeoverPlan {
  readonly databaseUrl: string;
  /** SIGKILLs of the worker that holds the lane. */
  readonly kills: number;
  /** SIGSTOPs of it; it goes on after another has taken over. */
  readonly zombies: number;
  readonly signal?: AbortSignal;
}

export interface Takeovers {
  /** From the SIGKILL until another worker has claimed the walk, ascending, in ms. */
  readonly killsMs: readonly number[];
  /** The same from the SIGSTOP. */
  readonly stopsMs: readonly number[];
  /** Writes to a walk by one who was not the last to claim it. */
  readonly wrongWrites: readonly object[];
  /** What the tables and the ledger hold that they should not, or lack. */
  readonly faults: object;
}

const seed = 3;
/** Pages of 10 that take 30 ms: a lane that is at work for as long as workers are killed. */
const latencyMs = 30;
const pageSize = 10;
/** Requests between two takeovers. */
const pagesPerTakeover = 180;
/** What each page of a lane takes that is ahead of its killer, in ms: it must not end before its time. */
const aheadMs = 2_000;
/** So that there is one to take over while another starts. */
const crewSize = 3;
/** A wait that is longer hangs, in ms. */
const boundMs = 240_000;
const pollMs = 5;

/** Kills and stops, again and again, the worker that holds a chain's only lane. */
export async function measureTakeovers(plan: TakeoverPlan): Promise<Takeovers> {
  const chain = chainOf(plan);
  let isSlow = true;
  let takeovers = 0;
  let requests = 0;
  const simulator = await startSimulator({
    seed,
    chains: [chain],
    onRequest: () => {
      requests += 1;
    },
    get latencyMs() {
      if (!isSlow) return 0;
      return requests > (takeovers + 1 / 2) * pagesPerTakeover ? aheadMs : latencyMs;
    },
  });
  const cwd = await mkdtemp(join(tmpdir(), 'explorer-etl-takeover-'));
  await writeFile(join(cwd, 'explorer-etl.yaml'), JSON.stringify(configOf(chain)));
  const pool = createPool({ url: plan.databaseUrl, max: 2, applicationName: 'takeover watch' });
  const crew = openCrew({ databaseUrl: plan.databaseUrl, explorerUrl: simulator.url, cwd });
  try {
    crew.fill();
    await until('the schema', plan, () => isPrepared(pool));
    await watchClaims(pool);
    const killsMs: number[] = [];
    const stopsMs: number[] = [];
    for (let kill = 0; kill < plan.kills; kill += 1) {
      const victim = await untilHeld(pool, crew, plan);
      killsMs.push(await takeoverFrom(victim, 'SIGKILL', pool, plan));
      takeovers += 1;
      await victim.exit;
      crew.fill();
    }
    for (let stop = 0; stop < plan.zombies; stop += 1) {
      const victim = await untilHeld(pool, crew, plan);
      stopsMs.push(await takeoverFrom(victim, 'SIGSTOP', pool, plan));
      takeovers += 1;
      // A worker may be stopped between two slices: then all that it has started have ended.
      const started = countOf(victim, 'slice.started');
      victim.kill('SIGCONT');
      await until(
        'the end of the zombie',
        plan,
        async () => countOf(victim, 'slice.done') >= started,
      );
    }
    isSlow = false;
    await until('the end of the walk', plan, () => isDone(pool));
    return {
      killsMs: killsMs.toSorted((a, b) => a - b),
      stopsMs: stopsMs.toSorted((a, b) => a - b),
      wrongWrites: await wrongWrites(pool),
      faults: {
        ...(await differences(pool, seed, chain, { operations: ['user-operations'] })),
        ...(await ledgerFaults(pool, 'ended')),
      },
    };
  } finally {
    await crew.end();
    await pool.end();
    await simulator.close();
    await rm(cwd, { recursive: true });
  }
}

const countOf = ({ output }: Child, event: string) => output.split(`"event":"${event}"`).length - 1;

function chainOf({ kills, zombies }: TakeoverPlan): SimulatedChain {
  return {
    id: 10,
    name: 'optimism',
    family: 'optimism',
    generation: 'v12',
    userOperations: (kills + zombies) * pagesPerTakeover * pageSize,
    batches: { first: 1, count: 0, blocks: 0 },
    factories: 1,
  };
}

const configOf = ({ id, name }: SimulatedChain) => ({
  explorer: { requests_per_second: 1000, page_size: pageSize },
  chains: [{ id, name, operations: { 'user-operations': { schedule: '0 0 1 1 *' } } }],
});

/** A `start` that Postgres knows by its name. */
interface CrewMember extends Child {
  readonly name: string;
}

const startMember = (name: string, place: ProgramEnvironment): CrewMember =>
  Object.assign(startProgram(['--log-level', 'debug', 'start'], { ...place, name }), {
    name,
  });

interface Crew {
  readonly workers: readonly CrewMember[];
  /** Starts a worker in the place of each that has ended. */
  fill(): void;
  end(): Promise<void>;
}

function openCrew(place: ProgramEnvironment): Crew {
  let started = 0;
  let workers: CrewMember[] = [];
  return {
    get workers() {
      return workers;
    },
    fill() {
      workers = workers.filter(({ isRunning }) => isRunning);
      while (workers.length < crewSize) {
        workers.push(startMember(`worker-${(started += 1)}`, place));
      }
    },
    async end() {
      for (const worker of workers) worker.kill('SIGKILL');
      await Promise.all(workers.map(({ exit }) => exit));
    },
  };
}

async function isPrepared(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query("select from pg_class where oid = to_regclass('etl.walks')");
  return rows.length > 0;
}

/**
 * Has Postgres note who claims each walk and who moves it on, in their order. Both raise the revision. A walk that
 * arrives below others does not when it says where they end, and another worker may have those by then.
 */
async function watchClaims(pool: Pool): Promise<void> {
  await pool.query(`
    create table public.walk_moves (
      id bigint generated always as identity, worker text, walk_id bigint, is_claim boolean
    );
    create function public.note_walk_move() returns trigger language plpgsql as $$
    begin
      insert into public.walk_moves (worker, walk_id, is_claim)
      values (current_setting('application_name'), new.id,
              tg_op = 'INSERT' or (new.pages = old.pages and new.state = old.state));
      return null;
    end $$;
    create trigger note_walk_begin after insert on etl.walks
    for each row execute function public.note_walk_move();
    create trigger note_walk_move after update on etl.walks
    for each row when (new.revision <> old.revision) execute function public.note_walk_move();
  `);
}

async function wrongWrites(pool: Pool): Promise<object[]> {
  const { rows } = await pool.query<object>(`
    select * from (
      select m.*, (
        select c.worker from public.walk_moves c
        where c.walk_id = m.walk_id and c.is_claim and c.id < m.id order by c.id desc limit 1
      ) as holder
      from public.walk_moves m where not m.is_claim
    ) moves where holder is distinct from worker
  `);
  return rows;
}

/** The last to claim the walk; null before the first. */
async function holderOf(pool: Pool): Promise<string | null> {
  const { rows } = await pool.query<{ worker: string }>(
    'select worker from public.walk_moves where is_claim order by id desc limit 1',
  );
  return rows[0]?.worker ?? null;
}

/** The worker that moves the walk on now, once all others have come up. */
async function untilHeld(pool: Pool, crew: Crew, plan: TakeoverPlan): Promise<CrewMember> {
  await until('a full crew', plan, async () => crew.workers.every(({ isReady }) => isReady));
  const { rows } = await pool.query<{ id: string }>(
    'select coalesce(max(id), 0) as id from public.walk_moves',
  );
  const from = rows[0]?.id ?? '0';
  return until('a worker at work', plan, async () => {
    const { rows: moves } = await pool.query<{ worker: string }>(
      'select worker from public.walk_moves where not is_claim and id > $1 order by id desc limit 1',
      [from],
    );
    return crew.workers.find(({ name }) => name === moves[0]?.worker);
  });
}

async function takeoverFrom(
  victim: CrewMember,
  signal: 'SIGKILL' | 'SIGSTOP',
  pool: Pool,
  plan: TakeoverPlan,
): Promise<number> {
  const startMs = performance.now();
  victim.kill(signal);
  await until('a takeover', plan, async () => {
    const holder = await holderOf(pool);
    return holder !== null && holder !== victim.name;
  });
  return performance.now() - startMs;
}

async function isDone(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ done: boolean }>(
    `select bool_and(state <> 'open') as done from etl.runs`,
  );
  return rows[0]?.done ?? false;
}

const until = <T>(
  what: string,
  _: unknown,
  poll: () => Promise<T | false | undefined>,
): Promise<T> => eventually(what, boundMs, poll, pollMs);
