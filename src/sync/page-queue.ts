/** What may wait in a queue of pages. */
export interface QueueBounds {
  /** In bytes of JSON: the page that reaches them is the last one, so a page of any size goes through. */
  readonly mostBytes: number;
  /** How long a page waits for others that are written with it, in ms. */
  readonly gatherMs: number;
}

/**
 * A bounded queue of one producer and one consumer: `push` waits while it is full, `takeAll` while it is empty. It is full once
 * it holds so many bytes, or its first page has waited for so long: memory stays flat, and a kill loses little that was read,
 * however fast pages come or slow the database is.
 */
export class PageQueue<Page> {
  readonly #bounds: QueueBounds;
  readonly #now: () => number;
  #pages: Page[] = [];
  #bytes = 0;
  /** When the first page came, by `now`. */
  #since = 0;
  #closed = false;
  #changed = Promise.withResolvers<void>();
  #isFlushed = false;
  /** Whether the consumer has pages that it took last. */
  #isWriting = false;

  /** @param now monotonic, in ms */
  constructor(bounds: QueueBounds, now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /** Returns false when the queue was closed and the page not taken. */
  async push(page: Page, bytes: number): Promise<boolean> {
    while (this.#isFull() && !this.#closed) await this.#changed.promise;
    if (this.#closed) return false;
    if (this.#pages.length === 0) this.#since = this.#now();
    this.#pages.push(page);
    this.#bytes += bytes;
    this.#wake();
    return true;
  }

  /**
   * All that waits, at least one page; empty only when the queue was closed and is drained.
   *
   * @param wait resolves after so many ms, or when its signal aborts; null: what is there is taken at once
   */
  async takeAll(wait: ((ms: number, signal: AbortSignal) => Promise<unknown>) | null) {
    this.#isWriting = false;
    this.#wake();
    while (this.#pages.length === 0 && !this.#closed) await this.#changed.promise;
    if (wait !== null) {
      const ending = new AbortController();
      const flush = () => ending.signal.aborted || this.flush();
      void wait(Math.max(0, this.#leftMs()), ending.signal).then(flush, flush);
      while (!this.#closed && !this.#isFlushed && !this.#isFull()) await this.#changed.promise;
      ending.abort();
    }
    this.#isFlushed = false;
    this.#isWriting = true;
    const pages = this.#pages;
    this.#pages = [];
    this.#bytes = 0;
    this.#wake();
    return pages;
  }

  /** Waits until the consumer has written all pages, and asks for more. False if the queue was closed. */
  async isWritten(): Promise<boolean> {
    if (this.#pages.length > 0) this.flush();
    while ((this.#pages.length > 0 || this.#isWriting) && !this.#closed)
      await this.#changed.promise;
    return !this.#closed;
  }

  /** Has the consumer take what it waits for, or takes next, without others. */
  flush(): void {
    this.#isFlushed = true;
    this.#wake();
  }

  /** No page is taken in any more; those that wait can still be taken out. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  #isFull(): boolean {
    if (this.#pages.length === 0) return false;
    return this.#bytes >= this.#bounds.mostBytes || this.#leftMs() <= 0;
  }

  /** How much longer the first page waits. */
  #leftMs(): number {
    return this.#since + this.#bounds.gatherMs - this.#now();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
