import type { Pool } from 'pg';
import { prepareDatabase } from '../../../src/app.ts';
import { createPool } from '../../../src/db/pool.ts';
import { type OperationName, operationNames } from '../../../src/lists/registry.ts';
import type { VerifiedFeed } from '../../../src/status/verify.ts';
import { opened } from '../../harness/database.ts';
import { contradictedByMovedBlock, contradictedFindings } from '../../harness/findings.ts';
import { isNewest, keepLists, type KeptExplorer, timeOf } from '../../harness/kept.ts';
import { type Copier, deathsBy, openCopier, overlapMs, type Task } from './program.ts';
import type { ListLie } from './lie.ts';
import { cutOff, cutWhileAgain } from './lies.ts';
import { cutList, Adversary, type PlayedLie } from './service.ts';
import { type Plot, plotsOf } from './plots.ts';
import {
  differencesFrom,
  falseClaims,
  lateAndMissed,
  missedAbove,
  type Moment,
  trueBelow,
} from './truth.ts';
import { besideOf, blocksWithin, type Chance, chanceOf, World } from './world.ts';
import { inWords } from '../../harness/ledger.ts';

/** A feed that was said to be complete, and was not. */
interface FalseComplete {
  readonly feed: string;
  /** The round after which it was said; rounds after the last lie are honest. */
  readonly round: number;
  readonly covered: readonly { readonly from: number; readonly to: number }[];
  readonly wrong: readonly string[];
  /** Of this feed's list, until then. */
  readonly played: readonly PlayedLie[];
}

/** How a run of the story ended. */
export type Ending = Awaited<ReturnType<typeof playStory>>;

interface Stage {
  readonly databaseUrl: string;
  readonly pool: Pool;
  readonly service: KeptExplorer;
}

interface Part {
  readonly lies: readonly ListLie[];
  /** Whether the same request may be answered falsely twice in a row. */
  readonly insists: boolean;
  /** Of a hundred stories, how many have plots. */
  readonly plotted: number;
}

/** The list of batches is read for their blocks. */
const withBlocks = (list: OperationName): readonly OperationName[] =>
  list === 'optimism-batches' ? [list, 'optimism-batch-blocks'] : [list];

/** The clock that the program is given begins here, years ahead of any real one. */
const beginningMs = Date.UTC(2040, 0, 1);
const minuteMs = 60_000;
/** Between two rounds: polls follow each other, or what rests has rested. */
const pausesMs = [minuteMs, 30 * minuteMs, 180 * minuteMs, 2 * 24 * 60 * minuteMs];
/** Honest rounds after which all must be well: a batch behind a gap is met by the sixteenth poll at the latest. */
const honestRounds = 20;

/**
 * One seed's story: a service that lies now and then, a program that follows it through several
 * rounds and dies on the way, a world that moves in between; then the service is honest. After each
 * round what is said to be complete is held against the truth.
 */
async function playStory(stage: Stage, seed: number, { lies, insists, plotted }: Part) {
  const begunMs = performance.now();
  const { service } = stage;
  const chance = chanceOf(seed, 'story');
  const world = new World(seed);
  const lowestWanted = lowestOf(seed, world);
  const rounds = chance.whole(2, 4);
  const lists = listsOf(lies, chance);
  const played = lies.filter(({ list }) => lists.includes(list));
  // One lie alone, or one that is said for ever, is no plot.
  const isPlotted = lies.length > 1 && !insists;
  const scene = { seed, lies: played, rounds, lowestWanted };
  const plots = isPlotted ? plotsOf(scene, plotted) : [];
  const percent = chance.pick(sharesOf(lies, plots));
  const adversary = new Adversary({ seed, lies, percent, insists, plots, lowestWanted });
  service.lie = (page, request) => adversary.alter(page, request);
  const operations = [...new Set(lists.flatMap(withBlocks))];
  const since = lowestWanted === 0 ? {} : { listSince: timeOf(lowestWanted) };
  const beside = besideOf(seed, world);
  const copier = await openCopier(stage, { url: service.url, operations, ...since, ...beside });
  service.onRequest = () => copier.noteRequest();
  const play = new Play(world, { service, adversary, copier }, lowestWanted);
  try {
    const isCut = lies.some(({ lie }) => lie === cutWhileAgain);
    for (let round = 0; round < rounds; round += 1) {
      await play.lyingRound(round, chance, plots.length > 0 ? plottedTasks : usualTasks);
      const cutChance = chanceOf(seed, `cut ${round}`);
      if (isCut && cutChance.percent(50)) await play.readAgainWhileCut(round, cutChance);
    }
    const unhealed = await play.honestRounds(rounds);
    return {
      seed,
      falselyComplete: play.found as readonly FalseComplete[],
      contradicted: play.contradicted as readonly string[],
      /** What is open or differs after the honest rounds; empty when all is well. */
      unhealed,
      played: adversary.played,
      requests: adversary.requests,
      ms: Math.round(performance.now() - begunMs),
    };
  } finally {
    await copier.close();
  }
}

/** Of a hundred answers that could be false, how many are, beside what plots say. */
function sharesOf(lies: readonly ListLie[], plots: readonly Plot[]): readonly number[] {
  if (plots.length > 0) return [0, 0, 3, 8];
  // A lie that is the only one is played often, or many a story would go by without it.
  return lies.length === 1 ? [15, 30, 50] : [3, 8, 15, 30];
}

const usualTasks: readonly (readonly Task[])[] = [
  ['sync'],
  ['schedule'],
  ['schedule', 'schedule'],
  ['again'],
  ['repair'],
];
/** Most plots are about rows that are stored, of which others read little. */
const plottedTasks: typeof usualTasks = [
  ...usualTasks,
  ['again'],
  ['again'],
  ['again'],
  ['again', 'repair'],
  ['sync', 'again'],
];

/** One list of those that there are lies of, mostly, so that a story is short; else all of them. */
function listsOf(lies: readonly ListLie[], chance: Chance): readonly OperationName[] {
  const played = operationNames.filter((list) => lies.some((lie) => lie.list === list));
  const lists = played.length === 0 ? operationNames : played;
  return chance.percent(20) ? lists : [chance.pick(lists)];
}

/** In some stories history is wanted from a time on only: the lowest block of it; 0: all is wanted. */
function lowestOf(seed: number, world: World): number {
  const chance = chanceOf(seed, 'since');
  if (!chance.percent(40)) return 0;
  return chance.pick(world.truth().operations).block;
}

/** What came late in a feed, until a poll has ended that must have found what is within its overlap. */
interface Expected {
  readonly feed: string;
  readonly late: readonly number[];
  /** The highest covered block when it came: polls go by the overlap below it. */
  readonly top: number;
  /** By the clock of the database. */
  readonly sinceMs: number;
}

/** A walk of the live lane that has ended. */
interface Poll {
  readonly floor: number;
  readonly cuts: number;
  /** Whether it went down to its floor. */
  readonly is_read: boolean;
  /** Whether its run began after what is expected came. */
  readonly is_later: boolean;
}

const isWhole = ({ is_read, cuts }: Poll) => is_read && cuts === 0;

/** The poll that must find what is expected: the first one, or, if that was cut, the one that repeats it, once. */
function finderAmong(polls: readonly Poll[]): Poll | undefined {
  const at = polls.findIndex(({ is_later }) => is_later);
  const [before, first] = [polls[at - 1], polls[at]];
  if (first === undefined || isWhole(first)) return first;
  const isRepeat = before !== undefined && !isWhole(before) && first.floor <= before.floor;
  return isRepeat && first.is_read ? first : polls[at + 1];
}

/** The second page in place of the first is like a first page that is left out: no reader can detect it. */
const hidesHead = ({ lie, request }: PlayedLie) =>
  lie.endsWith('/swapped-pages') && request.endsWith('its head');

interface Cast {
  readonly service: KeptExplorer;
  readonly adversary: Adversary;
  readonly copier: Copier;
}

class Play {
  readonly found: FalseComplete[] = [];
  /** Findings of `verify` that a view contradicts. */
  readonly contradicted: string[] = [];
  #expected: readonly Expected[] = [];
  readonly #world: World;
  readonly #service: KeptExplorer;
  readonly #adversary: Adversary;
  readonly #copier: Copier;
  readonly #moments: Moment[] = [];
  readonly #lowestWanted: number;
  #nowMs = beginningMs;

  constructor(world: World, { service, adversary, copier }: Cast, lowestWanted: number) {
    this.#world = world;
    this.#service = service;
    this.#adversary = adversary;
    this.#copier = copier;
    this.#lowestWanted = lowestWanted;
  }

  async lyingRound(round: number, chance: Chance, choices: typeof usualTasks): Promise<void> {
    if (round > 0) this.#world.move();
    this.#begin(round, chance.pick(pausesMs));
    const tasks: readonly Task[] = round === 0 ? ['sync'] : chance.pick(choices);
    const deaths = deathsBy(chance, 35);
    await this.#expectLate();
    for (const task of tasks) await this.#copier.work(task, new Date(this.#nowMs), deaths);
    await this.#noteStored(await this.#verify(round));
  }

  /** Notes how much of each list is complete and true: the service says nothing twice that only it contradicts. */
  async #noteStored(reports: readonly VerifiedFeed[]): Promise<void> {
    const truth = this.#world.truth();
    this.#adversary.stored = new Map();
    for (const { operation, open } of reports) {
      if (open.length > 0) continue;
      const list = operation as OperationName;
      const below = await trueBelow(this.#copier.pool, list, truth, this.#lowestWanted);
      this.#adversary.stored.set(list, below);
    }
  }

  /** The list ends early, again and again, while all that is below its end is stored. */
  async readAgainWhileCut(round: number, chance: Chance): Promise<void> {
    const truth = this.#world.truth();
    const report = (await this.#copier.verify()).find((feed) => feed.operation === cutList);
    if (report === undefined || report.open.length > 0) return;
    const wanted = this.#lowestWanted;
    if ((await differencesFrom(this.#copier.pool, cutList, truth, wanted)).length > 0) return;
    const cut = cutOff(truth, this.#lowestWanted);
    if (cut === null) return;
    await this.#adversary.whileCut(cut, () =>
      this.#copier.work('again', new Date(this.#nowMs), deathsBy(chance, 20)),
    );
    await this.#verify(round);
  }

  /** @returns what is not well in the end */
  async honestRounds(from: number): Promise<string[]> {
    this.#adversary.isHonest = true;
    this.#world.grow();
    if (this.#copier.operations.includes('optimism-batches')) this.#world.addBatches();
    await this.#copier.dropQuarantine();
    let unwell: string[] = [];
    for (let round = from; round < from + honestRounds; round += 1) {
      this.#begin(round, pausesMs.at(-1) ?? 0);
      for (const task of ['sync', 'again', 'repair'] as const) {
        // Twice, as a person would: the first may go on with a walk that was lied to, and fail.
        if (task === 'again' && round > from + 1) continue;
        await this.#copier.work(task, new Date(this.#nowMs), () => null);
      }
      unwell = await this.#unwell(await this.#verify(round));
      if (unwell.length === 0) break;
    }
    return unwell;
  }

  #begin(round: number, pauseMs: number): void {
    this.#nowMs += pauseMs;
    const truth = this.#world.truth();
    Object.assign(this.#service, truth);
    this.#adversary.round = round;
    this.#moments.push({ truth, drivenMs: this.#nowMs, realMs: Date.now() });
  }

  async #verify(round: number): Promise<readonly VerifiedFeed[]> {
    this.contradicted.push(
      ...(await contradictedFindings(this.#copier.pool)),
      ...(await contradictedByMovedBlock(this.#copier.pool)),
    );
    const reports = await this.#copier.verify();
    for (const report of reports) {
      // What the list of batches says verifies nothing: its blocks do.
      if (report.open.length > 0 || report.operation === 'optimism-batches') continue;
      const wrong = await falseClaims(this.#copier.pool, report, this.#moments, this.#lowestWanted);
      wrong.push(...(await this.#missed(report)));
      const played = this.#adversary.played.filter(
        ({ operation }) => operation === report.operation,
      );
      if (isNewest(report.operation) && !played.some(hidesHead)) {
        const { pool } = this.#copier;
        wrong.push(...(await missedAbove(pool, report, report.operation, this.#moments)));
      }
      if (wrong.length === 0) continue;
      const covered = report.covered.map(({ from, to }) => ({ from, to }));
      this.found.push({ feed: report.feed, round, covered, wrong, played: [...played] });
    }
    return reports;
  }

  /** Nothing is expected in a feed of which nothing is covered: there is nothing to poll yet. */
  async #expectLate(): Promise<void> {
    const { rows } = await this.#copier.pool.query<{ feed: string; top: string }>(
      'select feed, highest as top from etl.feed_coverage where highest is not null',
    );
    const late = this.#world.arrivedLate;
    const sinceMs = this.#moments.at(-1)?.realMs ?? 0;
    const expected = rows.map(({ feed, top }) => ({ feed, late, top: Number(top), sinceMs }));
    this.#expected = [...this.#expected, ...expected];
  }

  /** What was expected, and not found. A poll of a false head covers less than the one before. */
  async #missed({ feed, operation, covered }: VerifiedFeed): Promise<string[]> {
    if (!isNewest(operation)) return [];
    const missed: string[] = [];
    const highest = Math.max(...covered.map(({ to }) => to));
    for (const expected of this.#expected.filter((one) => one.feed === feed)) {
      const { rows: polls } = await this.#copier.pool.query<Poll>(
        `select floor::float8 as floor, cuts::float8 as cuts, opened_at >= $2 as is_later,
                walks.state = 'finished' and walks.reason is distinct from 'cursor-mismatch' as is_read
         from etl.walks join etl.runs on runs.id = run_id
         where walks.feed = $1 and walks.lane = 'live' and walks.state <> 'running' and bottom is not null
         order by walks.id`,
        [feed, new Date(expected.sinceMs)],
      );
      const poll = finderAmong(polls);
      if (poll === undefined) continue;
      this.#expected = this.#expected.filter((one) => one !== expected);
      if (!isWhole(poll)) continue;
      const world = { truth: this.#world.truth(), late: expected.late };
      const top = Math.min(expected.top, highest);
      const bottom = Math.max(this.#lowestWanted, top - blocksWithin(overlapMs) + 1);
      missed.push(...(await lateAndMissed(this.#copier.pool, operation, world, { top, bottom })));
    }
    return missed;
  }

  async #unwell(reports: readonly VerifiedFeed[]): Promise<string[]> {
    const truth = this.#world.truth();
    const said: string[] = [];
    for (const report of reports) {
      const { feed, operation } = report;
      const { open } = inWords(report);
      const differing =
        operation === 'optimism-batches'
          ? []
          : await differencesFrom(
              this.#copier.pool,
              operation as OperationName,
              truth,
              this.#lowestWanted,
            );
      said.push(...[...open, ...differing].map((what) => `${feed}: ${what}`));
    }
    return said;
  }
}

interface PlayOptions extends Part {
  /** Databases to use, whatever they hold: it is lost. One for each story that is played at the same time. */
  readonly databaseUrls: readonly string[];
  readonly seeds: readonly number[];
}

/** Plays the story of each seed, as many at once as there are databases. */
export async function playStories({
  databaseUrls,
  seeds,
  ...part
}: PlayOptions): Promise<Ending[]> {
  const left = [...seeds];
  const endings: Ending[] = [];
  await Promise.all(
    databaseUrls.map(async (databaseUrl) => {
      const applicationName = 'explorer-etl adversarial';
      const pool = createPool({ url: databaseUrl, max: 2, applicationName });
      const service = await keepLists();
      try {
        await prepareDatabase(opened({ url: databaseUrl, pool }));
        for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
          try {
            endings.push(await playStory({ databaseUrl, pool, service }, seed, part));
          } catch (cause) {
            throw new Error(`the program fails in the story of seed ${seed}`, { cause });
          }
        }
      } finally {
        await pool.end();
      }
    }),
  );
  return endings.sort((a, b) => a.seed - b.seed);
}
