/** A round of two seconds that takes so long hangs, in ms; one that waits for the database gives up sooner. */
const stuckMs = 180_000;

/** Whether what works in rounds still turns. */
export interface Pulse {
  /** Called at each round. */
  beat(): void;
  /** What `/healthz` answers. Before the first round it is healthy: the process serves. */
  health(): { readonly is_healthy: boolean; readonly last_round_s: number | null };
}

/** @param now monotonic, in ms */
export function createPulse(now: () => number): Pulse {
  let beatMs: number | null = null;
  return {
    beat: () => void (beatMs = now()),
    health() {
      const ageMs = beatMs === null ? null : now() - beatMs;
      return {
        is_healthy: ageMs === null || ageMs < stuckMs,
        last_round_s: ageMs === null ? null : Math.round(ageMs / 1000),
      };
    },
  };
}
