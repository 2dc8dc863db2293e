import { hash } from 'node:crypto';

/** The draws of item `index` of a named stream; other editions of an item are unlike each other. */
export type Draw = (name: string, index: number, edition?: number) => Random;

/** The draws under these parts, the same for the same parts everywhere. */
export function drawsOf(...parts: readonly (string | number)[]): Draw {
  const streams = new Map<string, Buffer>();
  return (name, index, edition = 0) => {
    const stream = streams.get(name) ?? hash('sha256', [...parts, name].join(':'), 'buffer');
    streams.set(name, stream);
    const salt = stream.readUInt32LE(4);
    return new Random(stream.readUInt32LE(0), edition === 0 ? salt : mix(salt + edition), index);
  };
}

/** 2^32 divided by the golden ratio: steps by it visit all 32-bit values evenly. */
const goldenStep = 0x9e3779b9;

/**
 * A 32-bit finalizer without collisions (constants of Wellons' hash prospector, lowbias32).
 * Chosen over sha256: a page of items needs thousands of words.
 */
function mix(value: number): number {
  let x = value ^ (value >>> 16);
  x = Math.imul(x, 0x7feb352d);
  x ^= x >>> 15;
  x = Math.imul(x, 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Five times faster than to print word by word. 8 words at most. */
const scratch = Buffer.alloc(32);

/**
 * The random draws of one item, always the same ones in the same order. Draw k is a bijection of
 * the index, so equal draws of two items are impossible below 2^32 items.
 */
export class Random {
  readonly #start: number;
  readonly #salt: number;
  #drawn = 0;

  constructor(offset: number, salt: number, index: number) {
    this.#start = mix(index ^ offset);
    this.#salt = salt;
  }

  /** An integer of 32 bits. */
  next(): number {
    this.#drawn += 1;
    return mix((this.#start + Math.imul(this.#drawn, goldenStep)) ^ this.#salt);
  }

  /** An integer from 0 to `limit - 1`. */
  below(limit: number): number {
    return this.next() % limit;
  }

  /** From 0 to 1, exclusive. */
  part(): number {
    return this.next() / 2 ** 32;
  }

  /** True once in `count` draws. */
  oneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  /** One of the values, which must not be an empty list. */
  pick<const Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value;
  }

  /** Up to `most` values, made one after the other. */
  list<Value>(most: number, make: (position: number) => Value): Value[] {
    return Array.from({ length: this.below(most + 1) }, (_, position) => make(position));
  }

  /** Lower-case hexadecimal, 8 digits a word, at most 8 words, with 0x. */
  hex(words: number): string {
    for (let word = 0; word < words; word += 1) scratch.writeUInt32BE(this.next(), word * 4);
    return `0x${scratch.toString('hex', 0, words * 4)}`;
  }

  /** A decimal integer of up to nine digits a group, as a string: 3 groups pass 2^64. */
  decimal(groups: number): string {
    let digits = String(1 + this.below(999_999_999));
    for (let group = 1; group < groups; group += 1) {
      digits += String(this.below(1_000_000_000)).padStart(9, '0');
    }
    return digits;
  }
}
