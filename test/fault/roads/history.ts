import type { Page } from '../../../simulator/index.ts';
import type { Answering } from '../../harness/kept.ts';
import type { ListLie } from '../stories/lie.ts';
import { requestText } from '../stories/service.ts';
import { chanceOf } from '../stories/world.ts';

interface Manner {
  readonly seed: number;
  readonly lies: readonly ListLie[];
  /** Of a hundred answers that could be false, how many are. */
  readonly percent: number;
  /** Whether a request is answered falsely once in a phase; else for as long as the phase lasts. */
  readonly isOnce: boolean;
}

/** Pages of a list that are looked for above a cursor. */
const mostAbove = 30;

/** What a service serves: whatever was requested before in a phase, the same request meets the same page. */
export class History {
  phase = 0;
  isHonest = false;
  /** Requests of the phase, in order. */
  requests: string[] = [];
  /** What was false, and where. */
  readonly played: string[] = [];
  readonly #manner: Manner;
  #times = new Map<string, number>();

  constructor(manner: Manner) {
    this.#manner = manner;
  }

  begin(phase: number, isHonest: boolean): void {
    Object.assign(this, { phase, isHonest, requests: [] });
    this.#times = new Map();
  }

  answer(honest: Page, request: Answering): Page | null {
    const text = requestText(request);
    this.requests.push(text);
    const { seed, lies, percent, isOnce } = this.#manner;
    const times = this.#times.get(text) ?? 0;
    this.#times.set(text, times + 1);
    if (this.isHonest || (isOnce && times > 0)) return null;
    const chance = chanceOf(seed, `${this.phase} ${text}`);
    if (!chance.percent(percent)) return null;
    const scene = { request, honest, before: cursorsAbove(request), chance };
    const possible = lies.filter(({ list }) => list === request.operation);
    while (possible.length > 0) {
      const chosen = chance.pick(possible);
      possible.splice(possible.indexOf(chosen), 1);
      const spoilt = chosen.spoil(scene);
      if (spoilt === null) continue;
      this.played.push(`phase ${this.phase}: ${chosen.name}, requested ${text}`);
      return spoilt.page;
    }
    return null;
  }
}

/** Cursors of the pages above one on an honest list, the nearest first; none if it is on none of its pages. */
function cursorsAbove({ cursor, cursorName, pageAt }: Answering): (string | null)[] {
  const above: (string | null)[] = [];
  let place: string | null = null;
  while (place !== cursor && above.length < mostAbove) {
    above.unshift(place);
    const next: Page['next_page_params'] = pageAt(place).next_page_params;
    if (next === null || next === undefined) return [];
    place = String(next[cursorName]);
  }
  return place === cursor ? above : [];
}
