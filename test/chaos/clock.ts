/**
 * The clock of a simulated world: it runs at a rate, and waits for whoever watches the world where he
 * falls back by more than the leash. What comes and goes while nobody looks is seen by nobody, and
 * could not be held against the truth.
 */
export class WorldClock {
  readonly #rate: number;
  readonly #leashMs: number;
  #isRunning = false;
  #nowMs = 0;
  #seenMs = 0;
  #lastMs = performance.now();

  constructor({ rate, leashMs }: { readonly rate: number; readonly leashMs: number }) {
    this.#rate = rate;
    this.#leashMs = leashMs;
  }

  /** Simulated ms since the start, whole. */
  get nowMs(): number {
    const realMs = performance.now();
    if (this.#isRunning) {
      const wantedMs = this.#nowMs + (realMs - this.#lastMs) * this.#rate;
      this.#nowMs = Math.max(this.#nowMs, Math.min(wantedMs, this.#seenMs + this.#leashMs));
    }
    this.#lastMs = realMs;
    return Math.floor(this.#nowMs);
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Goes on from where it stands. */
  run(): void {
    this.#seenMs = this.nowMs;
    this.#isRunning = true;
  }

  /** Stands from now on. @returns the time at which it does */
  freeze(): number {
    const atMs = this.nowMs;
    this.#isRunning = false;
    return atMs;
  }

  /** All that was to be seen at this time has been seen. */
  see(atMs: number): void {
    this.#seenMs = Math.max(this.#seenMs, atMs);
  }
}
