/**
 * A bounded queue between one producer and one consumer: `push` waits while it is full, `takeAll`
 * waits while it is empty and then takes all there is. Closing wakes both sides. The bound is what
 * keeps memory flat when the database is slower than the API.
 */
export class PageQueue<Page> {
  readonly #limit: number;
  #pages: Page[] = [];
  #closed = false;
  #waiting: (() => void)[] = [];
  /** Whether the consumer has done with what it took. */
  #isIdle = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @returns false when the queue was closed and the page not taken */
  async push(page: Page): Promise<boolean> {
    while (this.#pages.length >= this.#limit && !this.#closed) await this.#change();
    if (this.#closed) return false;
    this.#pages.push(page);
    this.#wake();
    return true;
  }

  /** All that waits, at least one page; empty only when the queue was closed and is drained. */
  async takeAll(): Promise<Page[]> {
    this.#isIdle = true;
    if (this.#pages.length === 0) this.#wake();
    while (this.#pages.length === 0 && !this.#closed) await this.#change();
    this.#isIdle = false;
    const pages = this.#pages;
    this.#pages = [];
    this.#wake();
    return pages;
  }

  /** Resolves when the consumer has done with all that was pushed, or the queue is closed. */
  async drained(): Promise<void> {
    while (!this.#closed && (this.#pages.length > 0 || !this.#isIdle)) await this.#change();
  }

  /** No page is taken in any more; those that wait can still be taken out. */
  close(): void {
    this.#closed = true;
    this.#wake();
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
