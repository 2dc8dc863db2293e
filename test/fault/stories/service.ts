import { isDeepStrictEqual } from 'node:util';
import type { Item, Page } from '../../../simulator/index.ts';
import { type Answering, isNewest, noItems, type Requested } from '../../harness/kept.ts';
import type { ListLie } from './lie.ts';
import { cutWhileAgain, numberOf } from './lies.ts';
import type { OperationName } from '../../../src/lists/registry.ts';
import type { Plot } from './plots.ts';
import { chanceOf } from './world.ts';

/** A lie that was played. */
export interface PlayedLie {
  readonly lie: string;
  readonly operation: string;
  readonly request: string;
  readonly round: number;
  /** Its part in a plot. */
  readonly part: string | null;
}

/** How a service lies. */
interface Manner {
  readonly seed: number;
  readonly lies: readonly ListLie[];
  /** Of a hundred answers that could be false, how many are. */
  readonly percent: number;
  /** Whether the same request may be answered falsely twice in a row. */
  readonly insists: boolean;
  readonly plots: readonly Plot[];
  /** The lowest block that is wanted: what is below is not stored. */
  readonly lowestWanted: number;
}

/** How many pages of a list are remembered, to be repeated later. */
const remembered = 6;

const listOf = ({ operation, batch }: Requested) =>
  `${operation}${batch === null ? '' : ` ${batch}`}`;

/** What is requested, as text. */
export const requestText = (request: Requested): string =>
  `${listOf(request)} from ${request.cursor ?? 'its head'}`;

/** Whether a list's cursors name an item, which an empty page contradicts. */
const namesItem = ({ cursorName }: Requested) => cursorName === 'page_token';

/** The list of operations for a while; bundles are made of the same operations, and stay. */
export const cutList = 'user-operations';

/** The page of a list that ends with these hashes. */
function cutPage({ items, next_page_params: next }: Page, hashes: ReadonlySet<unknown>): Page {
  const isListed = ({ hash }: Item) => hashes.has(hash);
  const [, following] = String(next?.['page_token']).split(',');
  const listed = items.filter(isListed);
  return hashes.has(following)
    ? { items, next_page_params: next ?? null }
    : { ...noItems, items: listed };
}

/** The lies of a service about the pages of one world, and what it knows of them. */
export class Adversary {
  readonly played: PlayedLie[] = [];
  round = 0;
  isHonest = false;
  requests = 0;
  /** Of lists that are complete, the number below which all that is listed is stored. */
  stored = new Map<string, number>();
  readonly #manner: Manner;
  #cut: ReadonlySet<unknown> | null = null;
  /** What is said again in a round, by what was requested. */
  readonly #repeated = new Map<string, Page>();
  readonly #times = new Map<string, number>();
  /** The last answer to a request, if it was false. */
  readonly #justLied = new Map<string, Page>();
  /** Requests that the pages of this round lead to. */
  readonly #named = new Set<string>();
  readonly #owed = new Map<string, Page>();
  readonly #before = new Map<string, readonly Requested['cursor'][]>();

  constructor(manner: Manner) {
    this.#manner = manner;
  }

  /** Lists only these operations while `work` lasts. */
  async whileCut(hashes: ReadonlySet<unknown>, work: () => Promise<void>): Promise<void> {
    this.#cut = hashes;
    this.#record(`${cutList}/${cutWhileAgain}`, cutList, 'operations below 60 %');
    await work();
    this.#cut = null;
  }

  /** What is served in place of a true page. */
  alter(page: Page, request: Answering): Page {
    const key = requestText(request);
    this.requests += 1;
    const honest = this.#honestly(page, request);
    const pageAt = (cursor: string | null) => this.#honestly(request.pageAt(cursor), request);
    const said = this.isHonest ? null : this.#lie(honest, { ...request, pageAt }, key);
    this.#remember(request);
    const next = (said ?? honest).next_page_params?.[request.cursorName];
    if (next !== undefined) {
      this.#named.add(`${this.round} ${requestText({ ...request, cursor: String(next) })}`);
    }
    // What is malformed is no answer: the one before is the last.
    if (said === null) this.#justLied.delete(key);
    else if ('next_page_params' in said || !this.#justLied.has(key)) this.#justLied.set(key, said);
    return said ?? honest;
  }

  #honestly(page: Page, { operation }: Requested): Page {
    return this.#cut !== null && operation === cutList ? cutPage(page, this.#cut) : page;
  }

  #record(lie: string, operation: string, request: string, part: string | null = null): void {
    this.played.push({ lie, operation, request, round: this.round, part });
  }

  #lie(honest: Page, request: Answering, key: string): Page | null {
    const times = (this.#times.get(key) ?? 0) + 1;
    this.#times.set(key, times);
    const { seed, lies, percent, insists } = this.#manner;
    const ofPlot = this.#speak(honest, request, key);
    if (ofPlot !== null) return ofPlot;
    const repeated = this.#repeated.get(`${this.round} ${key}`);
    if (repeated !== undefined) return repeated;
    if (this.#justLied.has(key) && !insists) return null;
    const owed = this.#owed.get(key);
    this.#owed.delete(key);
    if (owed !== undefined) return owed;
    // One who insists says the same whenever requested.
    const chance = chanceOf(seed, insists ? key : `${key} ${times}`);
    if (!chance.percent(percent)) return null;
    const scene = { request, honest, before: this.#beforeOf(request), chance };
    const possible = lies.filter(({ list }) => list === request.operation);
    while (possible.length > 0) {
      const chosen = chance.pick(possible);
      possible.splice(possible.indexOf(chosen), 1);
      const { page, owed: other } = chosen.spoil(scene) ?? {};
      if (page === undefined) continue;
      if (chosen.isRepeated) this.#repeated.set(`${this.round} ${key}`, page);
      if (other !== undefined) {
        this.#owed.set(requestText({ ...request, cursor: other.cursor }), other.page);
      }
      this.#record(chosen.name, request.operation, key);
      return page;
    }
    return null;
  }

  /** What a plot says to a request. */
  #speak(honest: Page, request: Answering, key: string): Page | null {
    const scene = { request, honest, before: this.#beforeOf(request) };
    const isNamed = this.#named.has(`${this.round} ${key}`) && namesItem(request);
    const mayBeSaid = (lie: ListLie, page: Page) =>
      lie.isRepeated ||
      !isDeepStrictEqual(page, this.#justLied.get(key)) ||
      (isNamed && page.items.length === 0) ||
      this.#isContradicted(honest, request);
    for (const plot of this.#manner.plots) {
      const spoken = plot.answer(scene, key, this.round, mayBeSaid);
      if (spoken === null) continue;
      this.#record(spoken.lie.name, request.operation, key, spoken.part);
      return spoken.page;
    }
    return null;
  }

  /** Whether what is said twice alike of a page is contradicted: more than a page of items below it is stored, and all of them. */
  #isContradicted(honest: Page, { operation, pageAt, cursorName }: Answering): boolean {
    const below = (page: Page | null) => {
      const cursor = page?.next_page_params?.[cursorName] ?? null;
      return cursor === null ? null : pageAt(String(cursor));
    };
    const list = operation as OperationName;
    const highestOf = (page: Page | null) => numberOf(page?.items[0], list);
    const wantedFrom = isNewest(list) ? this.#manner.lowestWanted : 0;
    const isStored = highestOf(honest) < (this.stored.get(list) ?? -1);
    return isStored && highestOf(below(below(honest))) >= wantedFrom;
  }

  #beforeOf(request: Requested): readonly Requested['cursor'][] {
    if (request.cursor === null) return [];
    const before = this.#before.get(listOf(request)) ?? [];
    return before.filter((cursor) => cursor !== request.cursor);
  }

  /** The pages above this one; a list that begins again has none. */
  #remember(request: Requested): void {
    const before = request.cursor === null ? [] : (this.#before.get(listOf(request)) ?? []);
    this.#before.set(listOf(request), [request.cursor, ...before].slice(0, remembered));
  }
}
