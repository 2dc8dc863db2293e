import type { Pool } from 'pg';
import type { z } from 'zod';
import { prepareDatabase } from '../../../src/app.ts';
import { createPool } from '../../../src/db/pool.ts';
import { pruneLedger } from '../../../src/lists/prune.ts';
import { type OperationName, operationNames, operations } from '../../../src/lists/registry.ts';
import { retryQuarantined } from '../../../src/quarantine/quarantine.ts';
import { replayArchive } from '../../../src/replay/replay.ts';
import { opened, type UsedDatabase } from '../../harness/database.ts';
import { keepLists, type KeptExplorer, timeOf } from '../../harness/kept.ts';
import { lies } from '../stories/lies.ts';
import { type Copier, openCopier, type Pace, type Task } from '../stories/program.ts';
import { type Chance, chanceOf, World } from '../stories/world.ts';
import { History } from './history.ts';
import {
  differencesOf,
  type Part,
  sameIn,
  type State,
  stateOf,
  withoutLateBlocks,
} from './state.ts';

/** A way from the same pages to what is stored. */
export interface Road extends Pace {
  readonly name: string;
  /** Bodies that are archived are not pruned. */
  readonly archive?: 'all';
  /** What is done after each phase. @returns how many rows it changed that it may not change */
  readonly after?: (copier: Copier) => Promise<number>;
  /** Has items refused while pages are read, as a wrong declaration does. */
  readonly isRefusing?: boolean;
  /** What may differ. */
  readonly without?: readonly Part[];
  /**
   * Whether items may be known later than by the plain road. Then a row has no block yet, a batch is read to its end once more,
   * or other pages are requested; what follows from the last two is not compared.
   */
  readonly isLate?: boolean;
}

const never = new AbortController().signal;
const all = { chains: [], operations: [], ids: [], reason: null };
/** The longest that a timer waits, in ms. */
const longestMs = 2 ** 31 - 1;

const eachAlone = { mostBytes: 1, gatherMs: 0 };
const allAtOnce = { mostBytes: Infinity, gatherMs: longestMs };
const inOneGo = Number.MAX_SAFE_INTEGER;

/** The other roads are compared with this one. */
const plain: Road = { name: 'plain', waiting: eachAlone, pagesASlice: inOneGo };

const roads: readonly Road[] = [
  { name: 'resumed after each page', waiting: eachAlone, pagesASlice: 1 },
  { name: 'all pages in one transaction', waiting: allAtOnce, pagesASlice: inOneGo },
  { name: 'resumed after three pages', waiting: allAtOnce, pagesASlice: 3 },
  {
    ...plain,
    name: 'replayed',
    archive: 'all',
    async after({ db }) {
      const { inserted, updated } = await replayArchive(db, all, () => undefined, never);
      return inserted + updated;
    },
  },
  {
    ...plain,
    name: 'pruned',
    async after({ db }) {
      await pruneLedger(db, 0, new Date(endMs), never);
      return 0;
    },
    // What was pruned is gone.
    without: ['walks', 'pages'],
  },
  {
    ...plain,
    name: 'refused and retried',
    isRefusing: true,
    async after({ db }) {
      await retryQuarantined(db, all);
      return 0;
    },
    // A page with an item in quarantine removes none, ends no batch, and counts neither late nor differing items.
    without: ['walks', 'pages', 'removals', 'ends of batches', 'late items', 'drift'],
    isLate: true,
  },
];

/** The roads whose names contain a text. */
export const roadsNamed = (text: string): readonly Road[] =>
  roads.filter(({ name }) => name.includes(text));

/** The clock that the program is given begins here, years ahead of any real one, and never comes to the end. */
const [beginningMs, endMs] = [Date.UTC(2040, 0, 1), Date.UTC(2100, 0, 1)];
const minuteMs = 60_000;
/** Between two phases. */
const pausesMs = [minuteMs, 30 * minuteMs, 180 * minuteMs, 2 * 24 * 60 * minuteMs];

/** What a phase led to. */
interface Phase {
  readonly requests: readonly string[];
  readonly state: State;
}

interface Stage {
  readonly databaseUrl: string;
  readonly pool: Pool;
  readonly service: KeptExplorer;
}

/** The list of batches is read for their blocks. */
const withBlocks = (list: OperationName): readonly OperationName[] =>
  list === 'optimism-batches' ? [list, 'optimism-batch-blocks'] : [list];

const served = operationNames.filter((list) => lies.some((lie) => lie.list === list));

function tasksOf(chance: Chance, isOuter: boolean): readonly Task[] {
  if (isOuter) return ['sync'];
  const polls: readonly Task[] = ['schedule', 'schedule', 'schedule'];
  return chance.pick([['sync'], polls, polls, ['again'], ['again', 'repair']]);
}

/** Follows one seed's history by a road: phases of false pages, between which the chain moves, then one of true ones. */
async function travel({ service, ...stage }: Stage, seed: number, road: Road) {
  const chance = chanceOf(seed, 'roads');
  const world = new World(seed);
  const percent = chance.pick([3, 8, 15, 30]);
  const history = new History({ seed, lies, percent, isOnce: chance.percent(50) });
  service.lie = (page, request) => history.answer(page, request);
  const lists = chance.percent(10) ? served : withBlocks(chance.pick(served));
  const lowest = chance.percent(30) ? chance.pick(world.truth().operations).block : 0;
  const since = lowest === 0 ? {} : { listSince: timeOf(lowest) };
  const wanted = { url: service.url, operations: lists, ...since };
  const copier = await openCopier(stage, { archive: road.archive ?? 'off', ...wanted }, road);
  const phases: Phase[] = [];
  try {
    const last = chance.whole(2, 4);
    let nowMs = beginningMs;
    for (let phase = 0; phase <= last; phase += 1) {
      if (phase > 0) world.move();
      Object.assign(service, world.truth());
      history.begin(phase, phase === last);
      nowMs += chance.pick(pausesMs);
      const tasks = tasksOf(chance, phase === 0 || phase === last);
      const work = async () => {
        for (const task of tasks) await copier.work(task, new Date(nowMs), () => null);
      };
      await (road.isRefusing === true && !history.isHonest ? whileRefusing(seed, work) : work());
      const changed = (await road.after?.(copier)) ?? 0;
      const state = { ...(await stateOf(copier)), 'changed afterwards': [`${changed} rows`] };
      phases.push({ requests: history.requests, state });
    }
  } finally {
    await copier.close();
  }
  return { phases, played: history.played };
}

/** One of so many items is refused. */
const refusedOneIn = 7;

/** Has some items refused, as a wrong declaration does. What is retried of a ranking waits for the next one. */
async function whileRefusing(seed: number, work: () => Promise<void>): Promise<void> {
  const isRead = (item: unknown) =>
    chanceOf(seed, `refused ${identityOf(item)}`).whole(1, refusedOneIn) > 1;
  const declared = served
    .filter((name) => operations[name].kind !== 'ranked')
    .map((name) => ({ operation: operations[name], item: operations[name].item }));
  for (const { operation, item } of declared) {
    Object.assign(operation, { item: (item as z.ZodObject).refine(isRead, 'wrongly refused') });
  }
  try {
    await work();
  } finally {
    for (const { operation, item } of declared) Object.assign(operation, { item });
  }
}

const identity = ['hash', 'transaction_hash', 'bundle_index', 'number', 'height'];

const identityOf = (item: unknown): string =>
  JSON.stringify(identity.map((name) => (item as Record<string, unknown>)[name]));

/** Where a road of a seed led elsewhere. */
export interface Divergence {
  readonly seed: number;
  readonly road: string;
  readonly phase: number;
  readonly isServedAlike: boolean;
  readonly differences: readonly string[];
  readonly played: readonly string[];
}

/**
 * Follows the history of each seed by the plain road, then by others, and compares what they lead to. One after the
 * other: they share the declarations.
 */
export async function compareRoads(
  { url: databaseUrl }: UsedDatabase,
  seeds: readonly number[],
  chosen: readonly Road[],
) {
  const pool = createPool({ url: databaseUrl, max: 2, applicationName: 'explorer-etl roads' });
  const stage = { databaseUrl, pool, service: await keepLists() };
  const divergences: Divergence[] = [];
  let falsePages = 0;
  try {
    await prepareDatabase(opened({ url: databaseUrl, pool }));
    for (const seed of seeds) {
      const { phases, played } = await travel(stage, seed, plain);
      falsePages += played.length;
      for (const road of chosen) {
        const other = await travel(stage, seed, road);
        const found = divergenceOf(phases, other.phases, road);
        if (found !== null) divergences.push({ seed, road: road.name, played, ...found });
      }
    }
  } finally {
    await pool.end();
  }
  return { divergences, falsePages };
}

/** The first phase after which two roads differ. */
function divergenceOf(
  first: readonly Phase[],
  other: readonly Phase[],
  { without = [], isLate = false }: Road,
) {
  for (const [phase, { requests, state }] of first.entries()) {
    const by = other[phase];
    if (by === undefined) throw new Error('a phase is missing');
    const isServedAlike = requests.join() === by.requests.join();
    // A walk that resumes asks whether the item left that its cursor names: that alone changes nothing.
    const isKnownAlike = isServedAlike && sameIn('ends of batches', state, by.state);
    if (isLate && !isKnownAlike) return null;
    const seen = isLate ? withoutLateBlocks : (text: string) => text;
    const differences = differencesOf(state, by.state, { without, seen });
    if (differences.length > 0) return { phase, isServedAlike, differences };
  }
  return null;
}

/** How many false pages are shown of a history. */
const shownPages = 12;

/** Where a road led elsewhere, with the command that follows it again. */
export function describeDivergence(divergence: Divergence): string {
  const { seed, road, phase, isServedAlike, differences, played } = divergence;
  return [
    `seed ${seed}, ${road}; repeat with: ROADS=1 ROAD_SEED=${seed} ROAD='${road}' npm test -- roads`,
    `  after phase ${phase}${isServedAlike ? '' : ', with other requests'}`,
    ...differences.map((what) => `    ${what}`),
    ...[...new Set(played)].slice(-shownPages).map((what) => `  ${what}`),
  ].join('\n');
}
