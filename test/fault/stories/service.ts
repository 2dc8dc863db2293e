import { honestPage, type ListName, type Page, type Requested } from '../../harness/kept.ts';
import { cutWhileAgain, type ListLie, pageSize } from './lies.ts';
import { chanceOf, type Truth } from './world.ts';

/** A lie that was played. */
export interface PlayedLie {
  readonly lie: string;
  readonly list: ListName;
  readonly request: string;
  readonly round: number;
}

/** How a service lies. */
interface Manner {
  readonly seed: number;
  readonly lies: readonly ListLie[];
  /** Of a hundred answers that could be false, how many are. */
  readonly percent: number;
  /** Whether the same request may be answered falsely twice in a row. */
  readonly insists: boolean;
}

/** How many pages of a list are remembered, to be repeated later. */
const remembered = 6;

const keyOf = ({ list, batch, cursor }: Requested) =>
  `${list}${batch === null ? '' : ` ${batch}`} from ${cursor ?? 'its head'}`;

const listOf = ({ list, batch }: Requested) => `${list} ${batch ?? ''}`;

/** What a service says of one world, and knows of what it said. */
export class Liar {
  readonly played: PlayedLie[] = [];
  round = 0;
  isHonest = false;
  requests = 0;
  /** Called before each answer. */
  onRequest: () => void = () => undefined;
  readonly #manner: Manner;
  #truth: Truth;
  /** What the list of operations is for a while; bundles are made of the same operations, and stay. */
  #cut: Truth | null = null;
  /** What is said again in a round, by what was requested. */
  readonly #repeated = new Map<string, Page>();
  readonly #times = new Map<string, number>();
  readonly #justLied = new Set<string>();
  readonly #owed = new Map<string, Page>();
  readonly #before = new Map<string, Requested[]>();

  constructor(manner: Manner, truth: Truth) {
    this.#manner = manner;
    this.#truth = truth;
  }

  /** Another round begins, with what is true from now on. */
  begin(round: number, truth: Truth): void {
    this.round = round;
    this.#truth = truth;
  }

  /** Lists other operations while `work` lasts. */
  async whileCut(cut: Truth, work: () => Promise<void>): Promise<void> {
    this.#cut = cut;
    this.#record(`operations/${cutWhileAgain}`, 'operations', 'operations below 60 %');
    await work();
    this.#cut = null;
  }

  answer(request: Requested): Page {
    this.onRequest();
    const key = keyOf(request);
    this.requests += 1;
    const honest = this.#honestly(request);
    const page = this.isHonest ? null : this.#lie(request, key, honest);
    this.#remember(request);
    if (page === null) this.#justLied.delete(key);
    else this.#justLied.add(key);
    return page ?? honest;
  }

  #honestly(request: Requested): Page {
    const cut = request.list === 'operations' ? this.#cut : null;
    return honestPage(cut ?? this.#truth, request, pageSize);
  }

  #record(lie: string, list: ListName, request: string): void {
    this.played.push({ lie, list, request, round: this.round });
  }

  #lie(request: Requested, key: string, honest: Page): Page | null {
    const times = (this.#times.get(key) ?? 0) + 1;
    this.#times.set(key, times);
    const { seed, lies, percent, insists } = this.#manner;
    const repeated = this.#repeated.get(`${this.round} ${key}`);
    if (repeated !== undefined) return repeated;
    if (this.#justLied.has(key) && !insists) return null;
    const owed = this.#owed.get(key);
    this.#owed.delete(key);
    if (owed !== undefined) return owed;
    // One who insists says the same whenever requested.
    const chance = chanceOf(seed, insists ? key : `${key} ${times}`);
    if (!chance.percent(percent)) return null;
    const honestly = (other: Requested) => this.#honestly(other);
    const scene = { request, honest, honestly, before: this.#beforeOf(request), chance };
    const possible = lies.filter(({ list }) => list === request.list);
    while (possible.length > 0) {
      const chosen = chance.pick(possible);
      possible.splice(possible.indexOf(chosen), 1);
      const { page, owed: other } = chosen.spoil(scene) ?? {};
      if (page === undefined) continue;
      if (chosen.isRepeated) this.#repeated.set(`${this.round} ${key}`, page);
      if (other !== undefined) this.#owed.set(keyOf(other.request), other.page);
      this.#record(chosen.name, request.list, key);
      return page;
    }
    return null;
  }

  #beforeOf(request: Requested): readonly Requested[] {
    if (request.cursor === null) return [];
    const own = keyOf(request);
    return (this.#before.get(listOf(request)) ?? []).filter((before) => keyOf(before) !== own);
  }

  /** The pages above this one; a list that begins again has none. */
  #remember(request: Requested): void {
    const before = request.cursor === null ? [] : (this.#before.get(listOf(request)) ?? []);
    this.#before.set(listOf(request), [request, ...before].slice(0, remembered));
  }
}
