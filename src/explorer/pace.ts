/** How long an answer may take, by how much of it has come. */
export interface PaceLimits {
  /** From the request to the end of the answer's head, in ms. */
  readonly headMs: number;
  /** What a body may take whatever its size, in ms. */
  readonly bodyGraceMs: number;
  /** The slowest pace of a body beyond that, in bytes on the wire a second. */
  readonly slowestBytesPerSecond: number;
  /** Whatever its size, in ms. */
  readonly totalMs: number;
}

/** Told what has come of an answer; calls `onLate` once if that is too little for the time. */
export interface PaceWatch {
  head(): void;
  received(bytes: number): void;
  stop(): void;
}

/**
 * Watches over the time of one answer. A limit between two pieces alone lets a byte a second through: a page
 * of 100 KB then held its feed until the limit of the whole. With a pace a trickle is late within
 * seconds, and a large body on a slow line has the time that its size needs.
 *
 * @param now monotonic, in ms
 */
export function watchPace(
  limits: PaceLimits,
  now: () => number,
  onLate: (detail: string) => void,
): PaceWatch {
  const startMs = now();
  let bodyStartMs: number | null = null;
  let bytes = 0;
  const allowedUntilMs = () => {
    const ownMs =
      bodyStartMs === null
        ? startMs + limits.headMs
        : bodyStartMs + limits.bodyGraceMs + (1000 * bytes) / limits.slowestBytesPerSecond;
    return Math.min(startMs + limits.totalMs, ownMs);
  };
  const check = () => {
    const leftMs = allowedUntilMs() - now();
    if (leftMs > 0) {
      timer = setTimeout(check, Math.ceil(leftMs));
      return;
    }
    onLate(
      now() - startMs >= limits.totalMs
        ? `no complete answer within ${limits.totalMs} ms`
        : bodyStartMs === null
          ? `no answer within ${limits.headMs} ms`
          : `the answer came too slowly: ${bytes} bytes in ${Math.round(now() - bodyStartMs)} ms`,
    );
  };
  // Looked at when the time that is allowed by now is over, not at each piece of a body.
  let timer = setTimeout(check, allowedUntilMs() - startMs);
  return {
    head() {
      bodyStartMs = now();
      clearTimeout(timer);
      check();
    },
    received(more) {
      bytes += more;
    },
    stop: () => clearTimeout(timer),
  };
}
