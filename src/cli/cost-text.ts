import type { RequestCount } from '../lists/list.ts';
import { creditsPerPage } from '../sync/ledger.ts';
import { counted, whole } from '../terminal/numbers.ts';

/** `about 13 requests, 260 credits; at most 20`. A bound is named as one. Empty: neither is known. */
export function costText({ likely, requests: most }: RequestCount): string {
  const known = likely ?? most;
  if (known === null) return '';
  if (known === 0) return 'no request';
  const cost = `${counted(known, 'request')}, ${counted(known * creditsPerPage, 'credit')}`;
  if (likely === null) return `at most ${cost}`;
  return most === null || most <= likely
    ? `about ${cost}`
    : `about ${cost}; at most ${whole(most)}`;
}
