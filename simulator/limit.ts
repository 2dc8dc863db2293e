/** What the service allows a key, and how it says so. May change from request to request. */
export interface Limits {
  /** Requests in any second; one more is let pass, as windows of a real service begin when they like. */
  readonly requestsPerSecond?: number;
  /** Credits in a day (UTC). */
  readonly dailyCredits?: number;
  /** 'stated' if absent; 'unknown' is -1 in every header, 'absent' leaves them out. */
  readonly headers?: 'stated' | 'unknown' | 'absent';
}

/** What the service charges for a call of these operations. */
const creditsPerCall = 20;
/** What is stated where nothing is enforced: so much that no client is slowed by it. */
const plentiful = 1_000_000_000;
const secondMs = 1000;
const dayMs = 86_400_000;

/** Counts requests in sliding seconds and in days, and holds them against the limits. */
export class Limiter {
  /** When those of the last second came, oldest first: all, and those let in. */
  #seen: number[] = [];
  #letIn: number[] = [];
  /** The most requests that came within any second, refused ones too. */
  busiestSecond = 0;
  #day = Number.NaN;
  #spent = 0;

  /**
   * Counts one request, judges it, and says what the headers of its answer say.
   *
   * @param now Unix time in ms
   */
  admit(now: number, limits: Limits) {
    const { requestsPerSecond = plentiful, dailyCredits = plentiful, headers: mode } = limits;
    const isRecent = (moment: number) => moment > now - secondMs;
    this.#seen = [...this.#seen.filter(isRecent), now];
    this.#letIn = this.#letIn.filter(isRecent);
    this.busiestSecond = Math.max(this.busiestSecond, this.#seen.length);
    const day = Math.floor(now / dayMs);
    if (day !== this.#day) [this.#day, this.#spent] = [day, 0];
    const isPaid = this.#spent + creditsPerCall <= dailyCredits;
    const isCalm = this.#letIn.length <= requestsPerSecond;
    if (isPaid && isCalm) {
      this.#letIn.push(now);
      this.#spent += creditsPerCall;
    }
    const [oldest = -Infinity] = this.#letIn;
    const stated = {
      'x-ratelimit-limit': requestsPerSecond,
      'x-ratelimit-remaining': Math.max(0, requestsPerSecond - this.#letIn.length),
      'x-ratelimit-reset': Math.ceil(Math.max(0, oldest + secondMs - now)),
      'x-credits-remaining': Math.max(0, dailyCredits - this.#spent),
    };
    const verdict = isPaid ? (isCalm ? 'let-in' : 'throttled') : 'out-of-credits';
    const entries = mode === 'absent' ? [] : Object.entries(stated);
    const headers = entries.map(([name, value]) => [name, mode === 'unknown' ? -1 : value]);
    return { verdict, headers: Object.fromEntries(headers) as Record<string, number> } as const;
  }
}
