import { blockMs, type KeptBlock, type KeptLists, type KeptOperation } from '../../harness/kept.ts';
import { drawsOf } from '../../../simulator/random.ts';

/** Chance that a seed decides. */
export type Chance = ReturnType<typeof chanceOf>;

/**
 * The same chance for the same seed and place, whatever else was decided before: so what one lie
 * changes of the requests that follow changes no lie about other requests.
 */
export function chanceOf(seed: number, place: string) {
  const random = drawsOf(seed)(place, 0);
  return {
    /** A whole number from `low` to `high`, both included. */
    whole: (low: number, high: number) => low + random.below(high - low + 1),
    /** True in so many of a hundred. */
    percent: (share: number) => random.part() * 100 < share,
    pick: <Choice>(choices: readonly Choice[]): Choice => random.pick(choices),
  };
}

/** What the service would list if it were honest. */
export type Truth = Readonly<KeptLists>;

/** The nth id of operations, or of ranked addresses: not in the order of n, so that the order within a block is one of its own. */
export const scrambled = (n: number) => Math.imul(n, 2_654_435_761) >>> 0;

/** Above every number that a lie puts too low. */
const firstBlock = 200;
const firstHeight = 10_000;

/** A small chain that moves a little on request; the same for a seed. */
export class World {
  /** Operations that the last move put behind the head. */
  arrivedLate: readonly number[] = [];
  readonly #seed: number;
  #moves = 0;
  #nextId = 1;
  #head = firstBlock;
  #nextHeight = firstHeight;
  #newestBatch = 0;
  readonly #operations = new Map<number, KeptOperation>();
  readonly #batches = new Map<number, KeptBlock[]>();
  readonly #counts = new Map<number, number>();

  constructor(seed: number) {
    this.#seed = seed;
    const chance = chanceOf(seed, 'world');
    this.#addOperations(chance, chance.whole(60, 160));
    // In some worlds the first numbers have no batch.
    const numbering = chanceOf(seed, 'first number');
    if (numbering.percent(25)) this.#newestBatch = numbering.whole(1, 3);
    const batches = chance.whole(2, 5);
    for (let count = 0; count < batches; count += 1) this.#addBatch(chance);
    // Of some worlds the list of batches has pages.
    const paged = chanceOf(seed, 'pages of batches');
    const small = paged.percent(25) ? paged.whole(8, 20) : 0;
    for (let count = 0; count < small; count += 1) this.#addBatch(paged, { least: 1, most: 4 });
    for (let n = 1; n <= 60; n += 1) this.#counts.set(scrambled(n), chance.whole(1, 60));
  }

  /** As it is now; later moves leave it as it is. */
  truth(): Truth {
    return {
      operations: [...this.#operations.values()],
      batches: new Map(this.#batches),
      listed: [...this.#batches].map(([number, blocks]) => ({
        number,
        blocks: [blocks[0]?.height ?? 0, blocks.at(-1)?.height ?? 0],
      })),
      counts: new Map(this.#counts),
    };
  }

  /** Something happens on the chain. */
  move(): void {
    this.#moves += 1;
    this.arrivedLate = [];
    const chance = chanceOf(this.#seed, `move ${this.#moves}`);
    this.#addOperations(chance, chance.pick([0, 0, 1, 4, 25]));
    if (chance.percent(30)) this.#arriveLate(chance);
    if (chance.percent(30)) this.#operations.delete(chance.pick([...this.#operations.keys()]));
    if (chance.percent(50)) this.#growNewest(chance);
    if (chance.percent(50)) this.#addBatch(chance);
    if (chance.percent(50)) {
      this.#counts.set(chance.pick([...this.#counts.keys()]), chance.whole(1, 60));
    }
    if (chance.percent(30)) this.#counts.set(scrambled(1000 + this.#moves), chance.whole(1, 60));
    if (chance.percent(20)) this.#counts.delete(chance.pick([...this.#counts.keys()]));
  }

  /** The list of operations goes on: what left at its very head is known to be gone only then. */
  grow(): void {
    const chance = chanceOf(this.#seed, 'growth');
    for (let added = 0; added < 2; added += 1) {
      this.#head += 1;
      this.#add(this.#head, chance);
    }
  }

  /** Batches up to above every number that the list of batches named too early. */
  addBatches(): void {
    const chance = chanceOf(this.#seed, 'batches');
    for (let added = 0; added < 7; added += 1) this.#addBatch(chance);
  }

  #addOperations(chance: Chance, count: number): void {
    for (let added = 0; added < count; added += 1) {
      // Some blocks have several.
      if (!chance.percent(25)) this.#head += chance.whole(1, 4);
      this.#add(this.#head, chance);
    }
  }

  #arriveLate(chance: Chance): void {
    this.arrivedLate = [scrambled(this.#nextId)];
    this.#add(chance.whole(Math.max(firstBlock, this.#head - 40), this.#head), chance);
  }

  #add(block: number, chance: Chance): void {
    const id = scrambled(this.#nextId);
    this.#nextId += 1;
    this.#operations.set(id, { block, id, fee: String(chance.whole(1, 1_000_000)) });
  }

  #addBatch(chance: Chance, blocks = { least: 8, most: 35 }): void {
    // Numbering has gaps.
    this.#newestBatch += this.#newestBatch > 0 && chance.percent(10) ? 2 : 1;
    this.#batches.set(this.#newestBatch, this.#newBlocks(chance.whole(blocks.least, blocks.most)));
  }

  /** The newest batch can be seen while it fills. */
  #growNewest(chance: Chance): void {
    const blocks = this.#batches.get(this.#newestBatch) ?? [];
    const grown = [...blocks, ...this.#newBlocks(chance.whole(1, 12))];
    this.#batches.set(this.#newestBatch, grown);
  }

  #newBlocks(count: number): KeptBlock[] {
    return Array.from({ length: count }, () => {
      this.#nextHeight += 1;
      return { height: this.#nextHeight };
    });
  }
}

/** How many blocks come in a time. */
export const blocksWithin = (ms: number) => Math.floor(ms / blockMs);

/** In some stories several walks read a list at once; their requests come in another order each time. */
export function besideOf(seed: number, world: World) {
  const chance = chanceOf(seed, 'beside');
  if (!chance.percent(25)) return {};
  const entries = () => {
    const blocks = world.truth().operations.map(({ block }) => block);
    return Array.from({ length: chance.whole(1, 3) }, () => chance.pick(blocks) - 1);
  };
  return { parallel: 4, entries };
}
