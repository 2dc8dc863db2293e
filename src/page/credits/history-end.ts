import type { StatusDocument } from '../../documents/status.ts';

/** When all history is read, at the present pace. Times are ISO 8601. */
export type HistoryEnd =
  | { readonly kind: 'read' }
  | { readonly kind: 'unknown' }
  | {
      readonly kind: 'known';
      readonly earliest: string;
      readonly latest: string;
      /** Today's credits end before it may. */
      readonly isAfterCredits: boolean;
    };

/**
 * When the last list's history ends: what is left of one is a range of requests, so this is a range of times.
 * Pure.
 */
export function historyEnd({ as_of, feeds, credits: { forecast } }: StatusDocument): HistoryEnd {
  const open = feeds.filter(({ left }) => left.requests.most !== 0);
  if (open.length === 0) return { kind: feeds.length === 0 ? 'unknown' : 'read' };
  const at = Date.parse(as_of);
  let [earliest, latest] = [at, at];
  for (const { left } of open) {
    const { least, likely, most } = left.requests;
    const at_end = likely ?? most;
    if (left.ends_at === null || at_end === null) return { kind: 'unknown' };
    const lasts = Math.max(0, Date.parse(left.ends_at) - at);
    earliest = Math.max(earliest, at + (lasts * least) / at_end);
    latest = Math.max(latest, at + lasts);
  }
  return {
    kind: 'known',
    earliest: new Date(earliest).toISOString(),
    latest: new Date(latest).toISOString(),
    isAfterCredits:
      forecast.kind === 'spent' ||
      forecast.kind === 'history-takes-days' ||
      (forecast.kind === 'lasts-until' && Date.parse(forecast.at) < latest),
  };
}
