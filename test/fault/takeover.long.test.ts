import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { Crew } from '../harness/process.ts';
import { ledgerFaults } from '../harness/ledger.ts';
import { eventually, type Child, startProgram } from '../harness/process.ts';
import { differences } from '../harness/tables.ts';
import { plainChain } from '../harness/sync.ts';
import { openWorld, type World } from '../harness/world.ts';

/** Each takes up to 20 s. */
const kills = 4;
const zombies = 2;

/** Pages of 10 that take 30 ms: a lane that is at work for as long as workers are killed. */
const latencyMs = 30;
const pageSize = 10;
/** Requests between two takeovers. */
const pagesPerTakeover = 180;
/** What each page of a lane takes that is ahead of its killer, in ms: it must not end before its time. */
const aheadMs = 2_000;
/** So that there is one to take over while another starts. */
const crewSize = 3;
const pollMs = 5;

const userOperations = (kills + zombies) * pagesPerTakeover * pageSize;

const until = <T>(what: string, poll: () => Promise<T | false | undefined>): Promise<T> =>
  eventually(what, poll, { everyMs: pollMs });

/** A lane that workers, whom Postgres knows by their names, take from each other. */
async function openScene() {
  const pace = { isSlow: true, takeovers: 0 };
  const world: World = await openWorld({
    seed: 3,
    chain: { ...plainChain, userOperations, factories: 1 },
    operations: { 'user-operations': {} },
    explorer: { page_size: pageSize },
    latency() {
      if (!pace.isSlow) return 0;
      const ahead = (pace.takeovers + 1 / 2) * pagesPerTakeover;
      return world.simulator.requests > ahead ? aheadMs : latencyMs;
    },
  });
  const { pool } = world.database;
  const nameOf = new Map<Child, string>();
  const crew = new Crew(crewSize, () => {
    const name = `worker-${nameOf.size + 1}`;
    const worker = startProgram(['--log-level', 'debug', 'start'], { ...world.place, name });
    nameOf.set(worker, name);
    return worker;
  });
  await watchClaims(pool);
  await crew.fill();
  /** The worker that moves the walk on now, once all others have come up. */
  const untilHeld = async () => {
    await until('a full crew', async () => crew.members.every(({ isReady }) => isReady));
    const from = await lastMove(pool);
    return until('a worker at work', async () => {
      const last = (await moves(pool, from)).findLast(({ is_claim }) => !is_claim);
      return crew.members.find((member) => nameOf.get(member) === last?.worker);
    });
  };
  /** @returns how long it takes another worker to claim the walk, in ms */
  const takeOver = async (victim: Child, signal: 'SIGKILL' | 'SIGSTOP') => {
    const from = await lastMove(pool);
    const startMs = performance.now();
    victim.kill(signal);
    await until('a takeover', async () => {
      const seen = await moves(pool, from);
      return seen.some(({ is_claim, worker }) => is_claim && worker !== nameOf.get(victim));
    });
    pace.takeovers += 1;
    return Math.round(performance.now() - startMs);
  };
  return { ...world, pool, pace, crew, untilHeld, takeOver };
}

test('another worker continues a lane in time, and the paused worker writes nothing when it resumes', async () => {
  const { pool, seed, chain, pace, crew, untilHeld, takeOver } = await openScene();
  const killsMs: number[] = [];
  const stopsMs: number[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const victim = await untilHeld();
    killsMs.push(await takeOver(victim, 'SIGKILL'));
    await victim.exit;
    await crew.fill();
  }
  for (let stop = 0; stop < zombies; stop += 1) {
    const victim = await untilHeld();
    stopsMs.push(await takeOver(victim, 'SIGSTOP'));
    // A worker may be stopped between two slices: then all that it has started have ended.
    const started = countOf(victim, 'slice.started');
    victim.kill('SIGCONT');
    await until('the zombie to end', async () => countOf(victim, 'slice.done') >= started);
  }
  pace.isSlow = false;
  await until('the end of the walk', () => isDone(pool));

  process.stderr.write(`takeovers: ${killsMs.join()} ms; stopped: ${stopsMs.join()} ms\n`);
  expect(wrongWrites(await moves(pool))).toEqual([]);
  expect(await differences(pool, seed, chain, { operations: ['user-operations'] })).toEqual({});
  expect(await ledgerFaults(pool, 'ended')).toEqual({});
});

const countOf = ({ output }: Child, event: string) => output.split(`"event":"${event}"`).length - 1;

/** Who claimed a walk, or moved it on. */
interface Move {
  readonly id: number;
  readonly worker: string;
  readonly walk_id: number;
  readonly is_claim: boolean;
}

/**
 * Has Postgres note who claims each walk and who moves it on, in their order. Both raise the revision. A walk that
 * arrives below others does not when it says where they end, and another worker may have those by then.
 */
async function watchClaims(pool: Pool): Promise<void> {
  await pool.query(`
    create table public.walk_moves (
      id int generated always as identity, worker text, walk_id int, is_claim boolean
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

async function moves(pool: Pool, above = 0): Promise<Move[]> {
  const { rows } = await pool.query<Move>(
    'select * from public.walk_moves where id > $1 order by id',
    [above],
  );
  return rows;
}

async function lastMove(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ id: number | null }>(
    'select max(id) as id from public.walk_moves',
  );
  return rows[0]?.id ?? 0;
}

/** Moves of a walk by one who was not the last to claim it. */
function wrongWrites(all: readonly Move[]): Move[] {
  const holders = new Map<number, string>();
  return all.filter(({ walk_id, worker, is_claim }) => {
    if (is_claim) holders.set(walk_id, worker);
    return holders.get(walk_id) !== worker;
  });
}

async function isDone(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ done: boolean }>(
    `select bool_and(state <> 'open') as done from etl.runs`,
  );
  return rows[0]?.done ?? false;
}
