import type { ListLie } from './lies.ts';
import { honestPage, keyOf, type Requested, type ListName, type Page } from './pages.ts';
import { answering } from '../harness/answers.ts';
import { chanceOf } from '../harness/random.ts';
import { cutWhileAgain } from './standing-lies.ts';
import type { Truth } from './world.ts';

/** A lie that was told. */
export interface ToldLie {
  readonly lie: string;
  readonly list: ListName;
  readonly request: string;
  readonly round: number;
}

/** How a service lies. */
export interface Manner {
  readonly seed: number;
  readonly lies: readonly ListLie[];
  /** Of a hundred answers that could be false, how many are. */
  readonly percent: number;
  /** Whether the same request may be answered falsely twice in a row. */
  readonly insists: boolean;
}

/** A service that can be made to lie; one at a time tells of one world. */
export interface AdversarialServer {
  readonly url: string;
  readonly requests: number;
  readonly told: readonly ToldLie[];
  /** Begins with another world, from the beginning. */
  begin(manner: Manner): void;
  /** What is true from now on. */
  truth: Truth;
  /** What is listed instead, for a while; null: the truth. */
  cut: Truth | null;
  round: number;
  isHonest: boolean;
  /** Called before each answer. */
  onRequest: () => void;
  close(): Promise<void>;
}

/** How many pages of a list are remembered, to be repeated later. */
const remembered = 6;

/** What a lying service knows of what it said. */
class Memory {
  manner: Manner = { seed: 0, lies: [], percent: 0, insists: false };
  told: ToldLie[] = [];
  truth: Truth = { operations: new Map(), batches: new Map(), factories: new Map() };
  cut: Truth | null = null;
  round = 0;
  isHonest = false;
  requests = 0;
  /** What is said again in a round, by what was requested. */
  readonly #repeated = new Map<string, Page>();
  readonly #times = new Map<string, number>();
  readonly #justLied = new Set<string>();
  readonly #owed = new Map<string, Page>();
  readonly #before = new Map<string, Requested[]>();

  answer(request: Requested): Page {
    const key = keyOf(request);
    this.requests += 1;
    const honest = honestPage(this.cut ?? this.truth, request);
    const page = this.isHonest ? null : this.#lie(request, key, honest);
    this.#remember(request);
    if (page === null) this.#justLied.delete(key);
    else this.#justLied.add(key);
    return page ?? honest;
  }

  #lie(request: Requested, key: string, honest: Page): Page | null {
    const times = (this.#times.get(key) ?? 0) + 1;
    this.#times.set(key, times);
    const { seed, lies, percent, insists } = this.manner;
    const repeated = this.#repeated.get(`${this.round} ${key}`);
    if (repeated !== undefined) return repeated;
    if (this.#justLied.has(key) && !insists) return null;
    const owed = this.#owed.get(key);
    this.#owed.delete(key);
    if (owed !== undefined) return owed;
    // One who insists says the same whenever requested.
    const chance = chanceOf(seed, insists ? key : `${key} ${times}`);
    if (!chance.percent(percent)) return null;
    const scene = {
      request,
      honest,
      honestly: (other: Requested) => honestPage(this.cut ?? this.truth, other),
      before: this.#beforeOf(request),
      chance,
    };
    const possible = lies.filter(({ list }) => list === request.list);
    while (possible.length > 0) {
      const chosen = chance.pick(possible);
      possible.splice(possible.indexOf(chosen), 1);
      const { page, owed: other } = chosen.lie.tell(scene) ?? {};
      if (page === undefined) continue;
      if (chosen.lie.isRepeated) this.#repeated.set(`${this.round} ${key}`, page);
      if (other !== undefined) this.#owed.set(keyOf(other.request), other.page);
      this.told.push({ lie: chosen.name, list: request.list, request: key, round: this.round });
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

const listOf = ({ list, batch }: Requested) => `${list} ${batch ?? ''}`;

/** Starts a service that answers as it is told to, on a socket of its own. */
export async function startAdversarialServer(): Promise<AdversarialServer> {
  let memory = new Memory();
  let onRequest: () => void = () => undefined;
  const { url, close } = await answering((request) => {
    onRequest();
    return { body: memory.answer(requestedBy(request)) };
  });
  return {
    url,
    close,
    get requests() {
      return memory.requests;
    },
    get told() {
      return memory.told;
    },
    begin(manner) {
      memory = new Memory();
      memory.manner = manner;
      onRequest = () => undefined;
    },
    get truth() {
      return memory.truth;
    },
    set truth(truth) {
      memory.truth = truth;
    },
    get cut() {
      return memory.cut;
    },
    set cut(cut) {
      memory.cut = cut;
      if (cut === null) return;
      const request = 'operations below 60 %';
      memory.told.push({
        lie: `operations/${cutWhileAgain}`,
        list: 'operations',
        request,
        round: memory.round,
      });
    },
    get round() {
      return memory.round;
    },
    set round(round) {
      memory.round = round;
    },
    get isHonest() {
      return memory.isHonest;
    },
    set isHonest(isHonest) {
      memory.isHonest = isHonest;
    },
    get onRequest() {
      return onRequest;
    },
    set onRequest(call) {
      onRequest = call;
    },
  };
}

function requestedBy(url: URL): Requested {
  const place = url.searchParams;
  const last = url.pathname.split('/').at(-1) ?? '';
  if (last === 'operations')
    return { list: 'operations', batch: null, cursor: place.get('page_token') };
  if (last === 'factories')
    return { list: 'ranking', batch: null, cursor: place.get('page_token') };
  if (last === 'batches') return { list: 'listed', batch: null, cursor: place.get('id') };
  return { list: 'batch', batch: Number(last), cursor: place.get('block_number') };
}
