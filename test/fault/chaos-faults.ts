import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { type Fault, type Faults, type Limits } from '../../simulator/index.ts';
import { faultNames, openFault, type FaultName } from '../harness/hostile-faults.ts';
import type { Random } from '../../simulator/random.ts';

import { inTransaction } from '../harness/faults.ts';
import type { Crew, Worker } from '../harness/process.ts';
import type { DatabaseProxy } from '../harness/servers.ts';

/** What the key is allowed and configured for, in requests a second. */
export const requestsPerSecond = 20;

/** How long a worker is stopped, the database away, and the key's limit another, in ms, at most. */
const mostStoppedMs = 6_000;
const mostAwayMs = 2_500;
const mostSwallowedMs = 4_000;
const mostLimitedMs = 5_000;

/** What a fault works on. */
export interface Scene {
  readonly crew: Crew<Worker>;
  readonly proxy: DatabaseProxy;
  /** To the database itself, not through the proxy. */
  readonly pool: Pool;
  readonly random: Random;
  /** Stops the database's server and starts it again; null where it is others' too, and is left alone. */
  readonly restartServer: (() => Promise<void>) | null;
  readonly setLimits: (limits: Limits) => void;
}

/** A fault, and how often it is drawn. */
type DrawnFault = readonly [weight: number, inject: (scene: Scene) => Promise<void>];

/** The explorer allows so much of the usual for a while, and says so in its headers, or does not. */
const limit = (share: number, headers: Limits['headers'] = 'stated'): DrawnFault => [
  1,
  async ({ random, setLimits }) => {
    setLimits({ requestsPerSecond: Math.ceil(requestsPerSecond * share), headers });
    await delay(random.part() * mostLimitedMs);
    setLimits({ requestsPerSecond });
  },
];

const restart = 'restart the database';

/** All that is done to workers, their database and their key, with its weight. */
const faults: Readonly<Record<string, DrawnFault>> = {
  kill: [6, async ({ crew, random }) => void (await crew.kill([random.pick(crew.members)]))],
  'kill all': [1, async ({ crew }) => void (await crew.kill(crew.members))],
  stop: [
    3,
    async ({ crew, random }) => {
      const victims = [random.pick(crew.members)];
      for (const victim of victims) victim.kill('SIGSTOP');
      await delay(random.part() * mostStoppedMs);
      for (const victim of victims) victim.kill('SIGCONT');
    },
  ],
  'cut the database': [4, async ({ proxy }) => void proxy.cutAll()],
  'refuse the database': [
    1,
    async ({ proxy, random }) => {
      proxy.set('refuse');
      proxy.cutAll();
      await delay(random.part() * mostAwayMs);
      proxy.set('open');
    },
  ],
  'swallow what the database is sent': [
    1,
    async ({ proxy, random }) => {
      proxy.set('swallow');
      await delay(random.part() * mostSwallowedMs);
      proxy.set('open');
    },
  ],
  [restart]: [1, async ({ restartServer }) => restartServer?.()],
  'end a session': [3, endSession],
  'cancel a statement': [3, breakStatement],
  'hold the ledger': [2, holdLedger],
  'provoke a deadlock': [2, provokeDeadlock],
  'lower the limit': limit(0.5),
  'raise the limit': limit(3),
  'lower the limit unsaid': limit(0.6, 'absent'),
  'say nothing of the limit': limit(1, 'unknown'),
};

const drawnFaults = Object.entries(faults).map(([name, [weight]]) => ({ name, weight }));

/** One of some that have weights; `part` of all the weight, from 0 on, is before it. */
function drawnByWeight<Choice extends { readonly weight: number }>(
  choices: readonly Choice[],
  part: number,
): Choice {
  let left = part * choices.reduce((sum, { weight }) => sum + weight, 0);
  const drawn = choices.find(({ weight }) => (left -= weight) < 0) ?? choices.at(-1);
  if (drawn === undefined) throw new Error('nothing to draw from');
  return drawn;
}

/** Injects one of the faults, drawn by weight. @returns its name */
export async function injectOne(scene: Scene): Promise<string> {
  const { name } = drawnByWeight(drawnFaults, scene.random.part());
  if (name === restart && scene.restartServer === null) return 'nothing: the server is not ours';
  await faults[name]?.[1](scene);
  return name;
}

/** What a fault within the database needs. */
type Reach = Pick<Scene, 'pool' | 'random'>;

/** How long the ledger is held, in ms, at most: less than a worker's statement may take. */
const mostHeldMs = 3_000;
/** How soon a session has to wait for a lock, in ms: a run comes every three seconds. */
const mostAwaitedMs = 4_000;
const pollMs = 20;

const ofWorkers = `datname = current_database() and application_name like 'worker-%'`;

/** Has the server end a session of a worker, whatever it does. */
async function endSession({ pool, random }: Reach): Promise<void> {
  await pool.query(
    `select pg_terminate_backend(pid) from (
       select pid from pg_stat_activity where ${ofWorkers}
       order by pid
       offset floor($1::float8 * (select count(*) from pg_stat_activity where ${ofWorkers}))
       limit 1
     ) as drawn`,
    [random.part()],
  );
}

/** Has the server cancel what a worker's session is at, if it is at anything. */
async function breakStatement({ pool }: Reach): Promise<void> {
  await pool.query(`
    select pg_cancel_backend(pid) from (
      select pid from pg_stat_activity where ${ofWorkers}
      order by state = 'active' desc, xact_start desc nulls last
      limit 1
    ) as drawn`);
}

/** Keeps writers waiting behind their rows. */
async function holdLedger({ pool, random }: Reach): Promise<void> {
  await inTransaction(pool, async (session) => {
    await session.query('lock table etl.pages in share mode');
    await delay(random.part() * mostHeldMs);
  });
}

/**
 * Closes a circle of locks: holds the open runs until a worker waits for one, then asks for a feed,
 * which the worker has locked before. The server ends the worker's transaction, as that waits longer.
 */
async function provokeDeadlock({ pool }: Reach): Promise<void> {
  await inTransaction(pool, async (session) => {
    await session.query("set local deadlock_timeout = '20s'; set local lock_timeout = '5s'");
    await session.query("select from etl.runs where state = 'open' for update");
    const endMs = performance.now() + mostAwaitedMs;
    while (performance.now() < endMs) {
      const { rows } = await pool.query(
        `select from pg_locks join pg_stat_activity using (pid) where not granted and ${ofWorkers}`,
      );
      if (rows.length > 0) {
        await session.query('select from etl.feeds for update');
        return;
      }
      await delay(pollMs);
    }
  });
}

/** Of all requests, those that a bad day of the service answers with a fault. */
const usualShare = 0.02;
/** A short run has as many of them as minutes of such a day. */
const shortShare = 0.08;

/** So that a limit of the key is met as often as all else together that a service says. */
const throttlingWeight = 3;
/** Each takes half a minute or two: a whole run has some, and still gets on. */
const slowWeight = 0.2;

const throttling: ReadonlySet<FaultName> = new Set([
  '429-bare',
  '429-seconds',
  '429-date',
  '429-reset',
]);
const slow: ReadonlySet<FaultName> = new Set(['byte-a-second', 'slow-headers', 'no-answer']);

/**
 * Left out. By these the explorer says that it does not serve a list, and the feed is looked at again
 * a day later; or that the key is worth nothing, and all feeds rest for five minutes, or until the
 * day's credits come. `test/fault/classes.test.ts` and `test/timed/` have them.
 */
const lasting: ReadonlySet<FaultName> = new Set([
  '400-action',
  '401',
  '402-credits',
  '402-key',
  '403',
  '404-ingress',
  '404-network',
  '501',
  '501-disabled',
]);

/** What these leave in a block does not keep its batch from being verified, and that is not read again. */
export const verifiedAsServed: readonly FaultName[] = [
  'time-of-year-10000',
  'time-of-year-0',
  'time-of-no-day',
  'string-of-1-mb',
  'lone-surrogate',
  'proto-key',
  'constructor-key',
];

/** With a block that is nested too deeply, its batch is read again up to a day later: the end is sooner. */
const staysInBlocks = new Set([...verifiedAsServed, 'nested-1000']);

interface ExplorerFaults {
  /** Whether there is no time for answers that take minutes. */
  readonly isShort: boolean;
  readonly isCalm: () => boolean;
  readonly note: (name: FaultName) => void;
}

/** All faults that have a name and pass, drawn by weight. */
export function explorerFaults({ isShort, isCalm, note }: ExplorerFaults): Faults {
  const share = isShort ? shortShare : usualShare;
  const drawn = faultNames
    .filter((name) => !lasting.has(name) && !(isShort && slow.has(name)))
    .map((name) => ({ name, weight: weightOf(name), fault: openFault(name) }));
  return ({ operation }, random): Fault | null => {
    if (isCalm() || random() >= share) return null;
    const chosen = drawnByWeight(drawn, random());
    if (operation === 'optimism-batch-blocks' && staysInBlocks.has(chosen.name)) return null;
    note(chosen.name);
    return chosen.fault;
  };
}

function weightOf(name: FaultName): number {
  if (slow.has(name)) return slowWeight;
  return throttling.has(name) ? throttlingWeight : 1;
}
