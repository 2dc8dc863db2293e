export interface Observation {
  readonly address: string;
  readonly accounts: number | null;
}
export type ModelPage = readonly Observation[];

interface Published {
  readonly address: string;
  readonly rank: number | null;
  readonly isMissing: boolean;
  readonly history: readonly number[];
}

/** What a factory's last observation of a walk says, and how manieth it was in the walk. */
interface Met {
  readonly accounts: number | null;
  readonly position: number;
}

/** The rules of a ranking, written down once more in the plainest way. */
export class RankingModel {
  readonly #factories = new Map<
    string,
    { rank: number | null; isMissing: boolean; history: number[] }
  >();
  #walks: Map<string, Met>[] = [];

  beginRun(): void {
    this.#walks = [];
  }

  /** One walk of the open run; null when it publishes. */
  walk(pages: readonly ModelPage[]): 'moved' | 'empty' | null {
    const { met, hasMoved } = readWalk(pages);
    this.#store(met.keys());
    const expected =
      this.#metBefore().size > 0 ? this.#metBefore() : new Set(this.#listedAddresses());
    this.#walks.push(met);
    const lacksOne = [...expected].some((address) => !met.has(address));
    if ((hasMoved || lacksOne) && this.#walks.length < 3) return 'moved';
    if (lacksOne && this.#metBefore().size === 0) return 'empty';
    this.#publish(hasMoved || lacksOne);
    return null;
  }

  /** A walk that fails stores its rows, and says nothing of the list. */
  failedWalk(pages: readonly ModelPage[]): void {
    this.#store(readWalk(pages).met.keys());
  }

  published(): Published[] {
    return [...this.#factories]
      .map(([address, factory]) => ({ address, ...factory, history: [...factory.history] }))
      .sort((a, b) => (a.address < b.address ? -1 : 1));
  }

  #store(addresses: Iterable<string>): void {
    for (const address of addresses) {
      if (!this.#factories.has(address)) {
        this.#factories.set(address, { rank: null, isMissing: false, history: [] });
      }
    }
  }

  #metBefore(): Set<string> {
    return new Set(this.#walks.flatMap((met) => [...met.keys()]));
  }

  #listedAddresses(): string[] {
    return [...this.#factories].flatMap(([address, { rank }]) => (rank === null ? [] : [address]));
  }

  /** If rows moved to the last, one that a single walk met keeps what it has. */
  #publish(isMoving: boolean): void {
    const isSingle = (address: string) =>
      this.#factories.get(address)?.rank === null &&
      this.#walks.filter((met) => met.has(address)).length === 1;
    const unsure = new Set(isMoving ? [...this.#metBefore()].filter(isSingle) : []);
    const sure = [...this.#metBefore()].filter((address) => !unsure.has(address));
    const latest = sure.map((address) => {
      const walk = this.#walks.findLastIndex((met) => met.has(address));
      const { accounts = null, position = 0 } = this.#walks[walk]?.get(address) ?? {};
      return { address, accounts, walk, position };
    });
    latest.sort(
      (a, b) =>
        (b.accounts ?? -1) - (a.accounts ?? -1) || b.walk - a.walk || a.position - b.position,
    );
    for (const [address, factory] of this.#factories) {
      factory.isMissing = factory.isMissing || !unsure.has(address);
      factory.rank = null;
    }
    for (const [index, { address, accounts }] of latest.entries()) {
      const factory = this.#factories.get(address);
      if (factory === undefined) throw new Error(`${address} was never met`);
      factory.rank = index + 1;
      factory.isMissing = false;
      if (accounts !== null && factory.history.at(-1) !== accounts) factory.history.push(accounts);
    }
  }
}

/** What a walk met last of each factory, and whether it shows that rows moved. */
function readWalk(pages: readonly ModelPage[]) {
  const met = new Map<string, Met>();
  let hasMoved = false;
  let position = 0;
  let above: Observation | undefined;
  for (const page of pages) {
    const lastOfPageBefore = above;
    const metBefore = new Map(met);
    for (const observation of page) {
      if (isMore(observation.accounts, above?.accounts)) hasMoved = true;
      const earlier = metBefore.get(observation.address);
      const isBorder = observation.address === lastOfPageBefore?.address;
      if (earlier !== undefined && !(isBorder && earlier.accounts === observation.accounts)) {
        hasMoved = true;
      }
      met.set(observation.address, { accounts: observation.accounts, position });
      above = observation;
      position += 1;
    }
  }
  return { met, hasMoved };
}

const isMore = (accounts: number | null, than: number | null | undefined) =>
  accounts !== null && than !== null && than !== undefined && accounts > than;
