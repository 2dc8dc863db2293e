/**
 * A bounded queue between one producer and one consumer: `push` waits while it is full, `takeAll`
 * waits while it is empty and then takes all there is. Closing wakes both sides. The bound is what
 * keeps memory flat when the database is slower than the API.
 */
export class PageQueue<Page> {
  readonly #limit: number;
  readonly #mostBytes: number;
  #pages: Page[] = [];
  #bytes = 0;
  #closed = false;
  #waiting: (() => void)[] = [];
  /** Whether the consumer has done with what it took. */
  #isIdle = false;
  /** How many wait until it has done with all. */
  #awaited = 0;

  /**
   * @param limit how many pages may wait
   * @param mostBytes how many bytes: it is full with the page that reaches them, so one of any size goes through
   */
  constructor(limit: number, mostBytes = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
    this.#mostBytes = mostBytes;
  }

  /**
   * @param bytes how large the page is
   * @returns false when the queue was closed and the page not taken
   */
  async push(page: Page, bytes = 0): Promise<boolean> {
    while (this.#isFull() && !this.#closed) await this.#change();
    if (this.#closed) return false;
    this.#pages.push(page);
    this.#bytes += bytes;
    this.#wake();
    return true;
  }

  /**
   * All that waits, at least one page; empty only when the queue was closed and is drained.
   *
   * @param gathering settles when no more pages are to be waited for, or its signal aborts; without it the
   *   first page is enough. So it is where the queue is full or closed, or somebody wants it drained.
   */
  async takeAll(gathering?: (signal: AbortSignal) => Promise<unknown>): Promise<Page[]> {
    this.#isIdle = true;
    if (this.#pages.length === 0) this.#wake();
    while (this.#pages.length === 0 && !this.#closed) await this.#change();
    if (gathering !== undefined) await this.#gather(gathering);
    this.#isIdle = false;
    const pages = this.#pages;
    this.#pages = [];
    this.#bytes = 0;
    this.#wake();
    return pages;
  }

  async #gather(gathering: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const ending = new AbortController();
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    const over = gathering(ending.signal).then(end, end);
    const isRipe = () => isOver || this.#closed || this.#awaited > 0 || this.#isFull();
    while (!isRipe()) await Promise.race([over, this.#change()]);
    ending.abort();
  }

  /** Resolves when the consumer has done with all that was pushed, or the queue is closed. */
  async drained(): Promise<void> {
    this.#awaited += 1;
    this.#wake();
    while (!this.#closed && (this.#pages.length > 0 || !this.#isIdle)) await this.#change();
    this.#awaited -= 1;
  }

  /** No page is taken in any more; those that wait can still be taken out. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  #isFull(): boolean {
    return this.#pages.length >= this.#limit || this.#bytes >= this.#mostBytes;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
