import type { StatusDocument } from '../documents/status.ts';

type Reason = StatusDocument['verdict']['reasons'][number];

/**
 * What keeps the program from making progress. What is not among them needs a person, or is being made good,
 * while new rows come: an item in quarantine, a gap, a history that is read.
 */
const standstills: ReadonlySet<Reason['kind']> = new Set([
  'database-away',
  'unreadable',
  'key-refused',
  'rejected',
  'nobody-works',
  'paused',
  'waiting',
  'stale',
  'standby-behind',
  'unseen',
  'stalled',
  'unattended',
  'late',
] as const);

/** What `/readyz` answers. */
export interface Readiness {
  readonly is_ready: boolean;
  readonly verdict: StatusDocument['verdict']['kind'];
  /** Why not, typed as in `status --json`. */
  readonly reasons: readonly Reason[];
}

/** Whether progress is made, as `status` judges. Pure. */
export function readinessOf({ verdict }: Pick<StatusDocument, 'verdict'>): Readiness {
  const reasons = verdict.reasons.filter(({ kind }) => standstills.has(kind));
  return { is_ready: reasons.length === 0, verdict: verdict.kind, reasons };
}

/** A round of two seconds that takes so long hangs, in ms; one that waits for the database gives up sooner. */
const stuckMs = 180_000;

/** Whether what works in rounds still turns. */
export interface Pulse {
  /** Called at each round. */
  beat(): void;
  /** Since the last round, in ms; null where none has begun yet. */
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
