import type { Page } from '../../../simulator/index.ts';
import type { OperationName } from '../../../src/lists/registry.ts';
import type { ListLie, Scene } from './lie.ts';
import { cuts, numberOf } from './lies.ts';
import { type Chance, chanceOf } from './world.ts';

/**
 * What a plot says. `A` and `B` are its two lies: each is said once, at the plot's place. With `*` all from the place down is
 * answered so, each request once in the round; with `!` as often as it is requested; with `+` one to five requests are.
 * `-` is the truth, and what follows `|` is said in the next round.
 */
interface Scheme {
  readonly acts: string;
  readonly a: RegExp;
  readonly b: RegExp;
}

const anything = /./u;
const ends = /^(?:end-|cut$)/u;
const outages = /^(?:end-empty|first-empty|empty-goes-on|cut$)/u;
/** Items of another page, batch or chain. */
const foreign = /^(?:foreign|neighbour|blocks-invented|old-page)/u;
/** Nothing of a page is where it belongs. */
const misplaced = /^(?:reversed|foreign-page|page-one-high|old-page|swapped-pages)$/u;
/** Something of a page is not. */
const disorder = /^(?:reversed|swapped|old-page|foreign|page-one|edge|number-missing)/u;
const times = /^times?-/u;

const schemes: readonly Scheme[] = [
  // Answers to one request that alternate.
  { acts: 'A B A B', a: anything, b: anything },
  { acts: 'A B A B', a: ends, b: ends },
  { acts: 'A B A B', a: foreign, b: foreign },
  { acts: 'A - A - A', a: anything, b: anything },
  { acts: 'A A B', a: foreign, b: anything },
  { acts: 'A A B', a: anything, b: anything },
  // What is false for a moment, and false otherwise later.
  { acts: 'A - B', a: anything, b: anything },
  { acts: 'A | B', a: anything, b: anything },
  { acts: 'A | | B', a: foreign, b: foreign },
  // Evidence is taken away before an end says that nothing is there.
  { acts: 'A* | B', a: disorder, b: ends },
  { acts: 'A* | B!', a: disorder, b: ends },
  { acts: 'A* | B!', a: misplaced, b: ends },
  { acts: 'A* | | B!', a: misplaced, b: ends },
  { acts: 'A B+', a: disorder, b: ends },
  { acts: 'A* | B', a: times, b: ends },
  { acts: 'A* | A* | B+', a: anything, b: ends },
  // A short outage.
  { acts: 'B+', a: anything, b: outages },
  { acts: 'A B+ A', a: anything, b: outages },
];

interface Act {
  /** Null: the truth. */
  readonly lie: ListLie | null;
  /** `A` or `B`: said twice, it says the same. */
  readonly name: string;
  readonly lasts: 'once' | 'some' | 'each' | 'always';
}

const lasting = new Map<string, Act['lasts']>([
  ['+', 'some'],
  ['*', 'each'],
  ['!', 'always'],
]);

/** What was requested when a plot began, and the numbers of the items that should have been shown. */
interface Place {
  readonly key: string;
  readonly top: number;
  readonly bottom: number;
}

/** What a plot says to a request. */
export interface Spoken {
  readonly page: Page;
  readonly lie: ListLie;
  /** In words. */
  readonly part: string;
}

/** What plots are made of. */
interface PlotScene {
  readonly seed: number;
  readonly lies: readonly ListLie[];
  /** In which the service lies. */
  readonly rounds: number;
  /** The lowest block that is wanted; 0: all is. */
  readonly lowestWanted: number;
}

/** Two lies about the same rows, which support each other more than lies here and there do. */
export class Plot {
  readonly #acts: string;
  readonly #list: OperationName;
  readonly #chanceAt: (place: string) => Chance;
  /** What is left to say, by rounds. */
  readonly #rounds: Act[][];
  readonly #firstRound: number;
  /** Requests of its list that pass before it begins. */
  #passing: number;
  /** If it begins where the list ends, or what is wanted of it: the number that its place is below. */
  readonly #endsBelow: number | null;
  readonly #some: number;
  #place: Place | null = null;
  #round = 0;
  #said: string[] = [];

  constructor(name: string, { seed, lies, rounds, lowestWanted }: PlotScene) {
    this.#chanceAt = (place) => chanceOf(seed, `${name} ${place}`);
    const chance = this.#chanceAt('itself');
    this.#list = chance.pick(lies).list;
    const own = [...lies, ...cuts].filter(({ list }) => list === this.#list);
    const among = (form: RegExp) => own.filter(({ lie }) => form.test(lie));
    const possible = schemes.filter(({ a, b }) => among(a).length * among(b).length > 0);
    const { acts, a, b } = chance.pick(possible);
    const first = chance.pick(among(a));
    // One lie has several forms.
    const second = a === b && chance.percent(30) ? first : chance.pick(among(b));
    const said = { A: first, B: second };
    this.#acts = acts;
    this.#rounds = acts
      .split('|')
      .map((round) => round.match(/\S+/gu)?.map((act) => actOf(act, said)) ?? []);
    this.#firstRound = chance.whole(0, Math.max(0, rounds - this.#rounds.length));
    // What lasts reaches further if it begins high in the list.
    this.#passing = chance.whole(0, acts.includes('*') ? 3 : 12);
    this.#endsBelow = chance.percent(25) ? lowestWanted - chance.whole(0, 25) : null;
    this.#some = chance.whole(1, 5);
  }

  /**
   * What is said in place of an honest page; null: this plot says nothing here.
   * @param mayBeSaid whether a reader can find it, after what was said before
   */
  answer(
    scene: Omit<Scene, 'chance'>,
    key: string,
    round: number,
    mayBeSaid: (lie: ListLie, page: Page) => boolean,
  ): Spoken | null {
    if (scene.request.operation !== this.#list || round < this.#firstRound) return null;
    if (this.#place !== null && round > this.#round) this.#begin(round);
    const [act] = this.#rounds[0] ?? [];
    if (act === undefined) return null;
    const place = this.#place ?? this.#placeAt(scene, key);
    if (place === null || !this.#isAt(place, scene, key, act)) return null;
    if (act.lie === null) return this.#goOn();
    if (act.lasts === 'each' && this.#said.includes(key)) return null;
    const chance = this.#chanceAt(`${act.name} ${key}`);
    const page = act.lie.spoil({ ...scene, chance, bottom: place.bottom })?.page;
    if (page === undefined || !mayBeSaid(act.lie, page)) return null;
    if (this.#place === null) this.#round = round;
    this.#place = place;
    this.#said.push(key);
    const isOver = act.lasts === 'some' && this.#said.length >= this.#some;
    if (act.lasts === 'once' || isOver) this.#goOn();
    return { page, lie: act.lie, part: `${act.name} of ${this.#acts}` };
  }

  /** What was not said in its round is left out. */
  #begin(round: number): void {
    this.#rounds.shift();
    this.#round = round;
    this.#said = [];
  }

  #goOn(): null {
    this.#rounds[0]?.shift();
    this.#said = [];
    return null;
  }

  #placeAt(
    { honest: { items, next_page_params } }: Pick<Scene, 'honest'>,
    key: string,
  ): Place | null {
    const numbers = items.map((item) => numberOf(item, this.#list));
    const [highest = 0] = numbers;
    this.#passing -= 1;
    const isPassed =
      this.#endsBelow === null
        ? this.#passing >= 0
        : next_page_params !== null && highest >= this.#endsBelow;
    if (isPassed) return null;
    const chance = this.#chanceAt('place');
    const end = chance.percent(60) ? -1 : chance.whole(0, Math.max(0, numbers.length - 1));
    return { key, top: numbers[0] ?? -1, bottom: numbers.at(end) ?? Infinity };
  }

  /** At its place is what shows the same items, and, for what lasts, what shows those below. */
  #isAt(
    place: Place,
    { honest: { items } }: Pick<Scene, 'honest'>,
    key: string,
    { lasts }: Act,
  ): boolean {
    if (key === place.key) return true;
    const [highest, lowest] = [items[0], items.at(-1)].map((item) => numberOf(item, this.#list));
    if (highest === undefined || lowest === undefined) return false;
    return lowest <= place.top && (lasts !== 'once' || highest >= place.bottom);
  }
}

function actOf(text: string, lies: Readonly<Record<'A' | 'B', ListLie>>): Act {
  const [name = '', sign = ''] = text;
  const lie = name === 'A' || name === 'B' ? lies[name] : null;
  return { lie, name, lasts: lasting.get(sign) ?? 'once' };
}

/** The plots of a seed's story, if it is one of the share that has some. */
export function plotsOf(scene: PlotScene, share: number): readonly Plot[] {
  const chance = chanceOf(scene.seed, 'plots');
  if (scene.lies.length === 0 || !chance.percent(share)) return [];
  return Array.from({ length: chance.whole(1, 3) }, (_, nth) => new Plot(`plot ${nth}`, scene));
}
