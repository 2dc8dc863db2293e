import type { Reason, StatusDocument } from '../status/schema.ts';

/** What `/readyz` answers. */
export interface Readiness {
  readonly is_ready: boolean;
  readonly state: StatusDocument['overall']['state'];
  /** Why not. */
  readonly reasons: readonly Reason[];
}

/** Whether the data makes progress. Pure. */
export function readinessOf({
  overall,
  reasons,
}: Pick<StatusDocument, 'overall' | 'reasons'>): Readiness {
  const blocking = reasons.filter(({ blocks_readiness }) => blocks_readiness);
  return { is_ready: blocking.length === 0, state: overall.state, reasons: blocking };
}

/** A round of two seconds that takes so long hangs, in ms; one that waits for the database gives up sooner. */
const stuckMs = 180_000;

/** Whether what works in rounds still turns. */
export interface Pulse {
  /** Called at each round. */
  beat(): void;
  /** Since the last round, in ms; null: none has begun yet. */
  ageMs(): number | null;
}

/** @param now monotonic, in ms */
export function createPulse(now: () => number): Pulse {
  let beatMs: number | null = null;
  return {
    beat: () => void (beatMs = now()),
    ageMs: () => (beatMs === null ? null : now() - beatMs),
  };
}

/** What `/healthz` answers: that it answers shows that the process serves. */
export interface Health {
  readonly is_healthy: boolean;
  readonly last_round_s: number | null;
}

/** Pure. */
export function healthOf(pulse: Pulse | null): Health {
  const ageMs = pulse?.ageMs() ?? null;
  return {
    is_healthy: ageMs === null || ageMs < stuckMs,
    last_round_s: ageMs === null ? null : Math.round(ageMs / 1000),
  };
}
