/** Small enough that batches meet, overlap and lose blocks to each other all the time. */
export const numbers = 7;
export const heights = 14;

interface Block {
  readonly height: number;
  readonly edition: number;
  readonly parentEdition: number;
  readonly isPending: boolean;
  readonly batch: number | null;
}

/** The end of a walk: what batch it read, how far down, and what it was served. */
export interface Walk {
  /** Runs come one after the other. */
  readonly beginsRun: boolean;
  readonly batch: number;
  readonly isProbe: boolean;
  readonly readDownTo: number;
  readonly served: readonly Omit<Block, 'batch'>[];
}

export interface Requested {
  readonly low: number;
  /** Excluded; null where all to come were requested. */
  readonly end: number | null;
}

/** Where a batch's list was last seen to begin and to end, on what, by how many walks, and in which run. */
interface Observation {
  readonly top: number | null;
  readonly bottom: number | null;
  /** The edition that its lowest block stands on. */
  readonly parent: number | null;
  readonly times_seen: number;
  readonly run: number;
}

/** What the tables hold, as one who sees everything at once says it. */
export class Model {
  readonly blocks = new Map<number, Block>();
  readonly rows = new Set<number>();
  readonly observations = new Map<number, Observation>();
  readonly settled = new Set<number>();
  readonly requested: readonly Requested[];

  constructor(requested: readonly Requested[]) {
    this.requested = requested;
  }

  apply(walk: Walk, run: number): void {
    const { batch, isProbe, served } = walk;
    for (const block of served) this.blocks.set(block.height, { ...block, batch });
    this.release(walk);
    if (!isProbe || this.membersOf(batch).length > 0) this.rows.add(batch);
    this.see(walk, run);
    this.settle(run);
  }

  /**
   * What was not served leaves the batch; below what was, only if the end is known to be one. All leave a number if two walks in
   * a row were served none, unless the batch above builds on them.
   */
  private release({ batch, readDownTo, served }: Walk): void {
    const isServed = new Set(served.map(({ height }) => height));
    const [lowest] = served;
    if (lowest === undefined) {
      if (this.wasEmpty(batch) && !this.isBuiltOn(batch)) this.empty(batch);
      return;
    }
    const below = this.blocks.get(lowest.height - 1);
    const isEnd =
      below !== undefined && follows({ ...lowest, batch }, below) && (below.batch ?? batch) < batch;
    for (const block of this.blocks.values()) {
      if (block.batch !== batch || block.height < readDownTo || isServed.has(block.height))
        continue;
      if (block.height < lowest.height && !isEnd) continue;
      this.blocks.set(block.height, { ...block, batch: null });
    }
  }

  private isBuiltOn(batch: number): boolean {
    const above = this.fullAbove(batch);
    const [top, bottom] = [this.membersOf(batch).at(-1), this.membersOf(above ?? 0)[0]];
    return top !== undefined && bottom !== undefined && follows(bottom, top);
  }

  private empty(batch: number): void {
    for (const block of this.membersOf(batch)) {
      this.blocks.set(block.height, { ...block, batch: null });
    }
  }

  /** Whether the walk before saw no block. */
  private wasEmpty(batch: number): boolean {
    const before = this.observations.get(batch);
    return before !== undefined && before.times_seen > 0 && before.bottom === null;
  }

  private see({ batch, readDownTo, served }: Walk, run: number): void {
    const before = this.observations.get(batch);
    const top = served.at(-1)?.height ?? null;
    const bottom = served[0]?.height ?? null;
    if (readDownTo > 0) {
      this.observations.set(batch, {
        ...(before ?? { bottom: null, parent: null, times_seen: 0, run }),
        top,
      });
      return;
    }
    const parent = served[0]?.parentEdition ?? null;
    const isSame =
      before !== undefined &&
      before.times_seen > 0 &&
      before.bottom === bottom &&
      before.parent === parent;
    this.observations.set(batch, {
      top,
      bottom,
      parent,
      run,
      times_seen: isSame ? before.times_seen + 1 : 1,
    });
  }

  private settle(run: number): void {
    for (const number of this.allNumbers()) {
      const isSeenNow = this.observations.get(number)?.run === run;
      const mayBe = this.settled.has(number) || isSeenNow;
      if (mayBe && this.membersOf(number).length > 0 && this.isVerified(number)) {
        this.settled.add(number);
      } else this.settled.delete(number);
    }
  }

  /** State of each batch that has a row. */
  states(): Record<number, string> {
    const described = [...this.rows]
      .toSorted((a, b) => a - b)
      .map((number) => {
        if (this.membersOf(number).length > 0) {
          return [number, this.settled.has(number) ? 'settled' : 'open'] as const;
        }
        return [number, this.isVerifiedGap(number) ? 'empty, verified' : 'empty'] as const;
      });
    return Object.fromEntries(described);
  }

  private allNumbers = () => Array.from({ length: numbers }, (_, place) => place + 1);

  private membersOf = (batch: number) =>
    [...this.blocks.values()]
      .filter((block) => block.batch === batch)
      .toSorted((a, b) => a.height - b.height);

  private requestedAround = (number: number) =>
    this.requested.find(({ low, end }) => number >= low && (end === null || number < end));

  private fullBelow = (number: number) =>
    this.allNumbers().findLast((other) => other < number && this.membersOf(other).length > 0);

  private fullAbove = (number: number) =>
    this.allNumbers().find((other) => other > number && this.membersOf(other).length > 0);

  private meet(lower: number | undefined, upper: number | undefined): boolean {
    if (lower === undefined || upper === undefined) return false;
    const [top, bottom] = [this.membersOf(lower).at(-1), this.membersOf(upper)[0]];
    if (top === undefined || bottom === undefined || !follows(bottom, top)) return false;
    if (this.allNumbers().some((other) => other > lower && other < upper && this.hasLost(other))) {
      return false;
    }
    return this.agrees(lower, 'top', top.height) && this.agrees(upper, 'bottom', bottom.height);
  }

  /** Whether a number without blocks was last seen with some. */
  private hasLost(number: number): boolean {
    const observation = this.observations.get(number);
    return observation !== undefined && observation.times_seen > 0 && observation.bottom !== null;
  }

  /** Whether a list was not last seen to end elsewhere. */
  private agrees(number: number, end: 'top' | 'bottom', height: number): boolean {
    const observation = this.observations.get(number);
    return observation === undefined || observation.times_seen === 0 || observation[end] === height;
  }

  private isVerified(number: number): boolean {
    const members = this.membersOf(number);
    const observation = this.observations.get(number);
    const isChain = members.every((block, place) => {
      const below = members[place - 1];
      return below === undefined || follows(block, below);
    });
    const isSettled = this.settled.has(number);
    return (
      isChain &&
      members.every(({ isPending }) => !isPending) &&
      observation?.top === members.at(-1)?.height &&
      observation?.bottom === members[0]?.height &&
      (this.meet(number, this.fullAbove(number)) || (isSettled && this.hasUnreadAbove(number))) &&
      (this.meet(this.fullBelow(number), number) ||
        (isSettled && this.hasUnreadBelow(number)) ||
        this.isLowest(number))
    );
  }

  /** Who is unread contradicts nothing: what is settled beside it stays so. */
  private hasUnreadAbove = (number: number) =>
    this.hasUnread(number + 1, this.fullAbove(number) ?? number + 2);

  private hasUnreadBelow(number: number): boolean {
    const [below, low] = [this.fullBelow(number), this.requestedAround(number)?.low];
    if (below === undefined && low === undefined) return false;
    return this.hasUnread(Math.max((below ?? -1) + 1, low ?? 0), number);
  }

  private hasUnread(from: number, to: number): boolean {
    for (let number = from; number < to; number += 1) if (!this.rows.has(number)) return true;
    return false;
  }

  /** Nobody is below in what was requested, and two walks have seen so of each number. */
  private isLowest(number: number): boolean {
    const around = this.requestedAround(number);
    if (around === undefined) return false;
    const below = this.fullBelow(number);
    const isTwice = (other: number) => (this.observations.get(other)?.times_seen ?? 0) > 1;
    return (
      (below === undefined || below < around.low) &&
      isTwice(number) &&
      this.allNumbers().every(
        (other) =>
          other < around.low ||
          other >= number ||
          (this.rows.has(other) && isTwice(other) && this.observations.get(other)?.bottom === null),
      )
    );
  }

  private isVerifiedGap(number: number): boolean {
    const around = this.requestedAround(number);
    if (around === undefined) return false;
    const [below, above] = [this.fullBelow(number), this.fullAbove(number)];
    if (below !== undefined && below >= around.low) return this.meet(below, above);
    const isInside = above !== undefined && (around.end === null || above < around.end);
    return isInside && this.settled.has(above) && !this.hasUnreadBelow(above);
  }
}

const follows = (block: Block, below: Block) =>
  block.height === below.height + 1 && block.parentEdition === below.edition;
