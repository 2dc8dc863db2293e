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
    while (this.#pages.length === 0 && !this.#closed) await this.#change();
    const pages = this.#pages;
    this.#pages = [];
    this.#wake();
    return pages;
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
