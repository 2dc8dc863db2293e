import type { StatusDocument } from '../documents/status.ts';

type Verdict = StatusDocument['verdict'];

/** What a process remembers of a database that is away, where nothing else can remember it. Times in ms. */
export interface Outage {
  readonly sinceMs: number;
  /** The look that found it, ISO 8601. One look that fails is no outage, however often it is told. */
  readonly asOf: string;
  readonly attempts: number;
  readonly nextMs: number;
  /** What was delivered, and when; null: nothing yet. */
  readonly told: { readonly verdict: Verdict; readonly atMs: number } | null;
}

/** How patiently an outage is told. */
interface OutagePace {
  readonly holdMs: number;
  readonly firstRetryMs: number;
}

/** Attempts at most: nobody else can say which process told it, so each one is brief. */
const mostAttempts = 5;

export const beginOutage = (nowMs: number, asOf: string): Outage => ({
  sinceMs: nowMs,
  asOf,
  attempts: 0,
  nextMs: nowMs,
  told: null,
});

/** Whether the outage is to be told now: a second look found it, it has stood for long enough, and was not told yet. */
export const isOutageDue = (
  outage: Outage,
  asOf: string,
  nowMs: number,
  { holdMs }: OutagePace,
): boolean =>
  outage.told === null &&
  outage.asOf !== asOf &&
  outage.attempts < mostAttempts &&
  nowMs >= outage.nextMs &&
  nowMs - outage.sinceMs >= holdMs;

/** After an attempt that failed. */
export const retryOutage = (
  outage: Outage,
  nowMs: number,
  { firstRetryMs }: OutagePace,
): Outage => ({
  ...outage,
  attempts: outage.attempts + 1,
  nextMs: nowMs + firstRetryMs * 2 ** outage.attempts,
});
