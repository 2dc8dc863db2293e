import { pageFaults, type PageFault } from './page-faults.ts';
import { wireFaults, type WireFault } from './wire-faults.ts';

/** What goes wrong with one answer. */
export type Fault = CannedFault | PageFault | WireFault;

/** An answer that the service gives in place of the true one. */
export interface CannedFault {
  readonly status: number;
  /** Text is sent as it is, as HTML; anything else as JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string | number>>;
}

/** What a fault may depend on. */
export interface FaultRequest {
  readonly chainId: number;
  readonly operation: string;
  readonly url: URL;
  /** How many requests came before this one. */
  readonly number: number;
  /** Unix time in ms. */
  readonly now: number;
}

/**
 * Chooses what goes wrong with a request; null: nothing does.
 *
 * @param random uniform in [0, 1), the same for the same seed and number of the request
 */
export type Faults = (request: FaultRequest, random: () => number) => Fault | null;

const canned = (status: number, body: unknown, headers: CannedFault['headers'] = {}) => ({
  status,
  body,
  headers,
});

const html = (title: string) =>
  `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;

const tooMany = { message: 'Too many requests. Please slow down.' };

/** Every answer that the service is known to refuse or fail with, by a name of ours. */
export const statusFaults = {
  '400-action': canned(400, { message: 'Unknown API v2 action' }),
  '400-token': canned(400, { code: 3, message: 'invalid format of page_token' }),
  '401': canned(401, { error: 'Unauthorized' }),
  '402-credits': canned(402, { error: 'Out of credits' }),
  '402-key': canned(402, { error: 'Proceed with API key or make a X402 payment to continue' }),
  '404-network': canned(404, { error: 'Network not supported', source: 'internal' }),
  '422': canned(422, {
    errors: [{ title: 'Invalid value', source: { pointer: '/page_size' }, detail: 'is too large' }],
  }),
  '429-bare': canned(429, { error: 'Too many requests' }),
  '429-seconds': canned(429, tooMany, { 'retry-after': 1 }),
  '429-date': canned(429, tooMany, {
    date: 'Wed, 21 Oct 2026 07:28:00 GMT',
    'retry-after': 'Wed, 21 Oct 2026 07:28:01 GMT',
  }),
  '429-reset': canned(429, tooMany, { 'x-ratelimit-remaining': 0, 'x-ratelimit-reset': 1000 }),
  '500': canned(500, { error: 'Internal server error', source: 'upstream' }),
  '501': canned(501, { error: 'Not implemented', source: 'upstream' }),
  '501-disabled': canned(501, { message: 'Service is disabled' }),
  '502-html': canned(502, html('502 Bad Gateway')),
  '503': canned(503, { error: 'Service unavailable', source: 'internal' }),
  '504-html': canned(504, html('504 Gateway Time-out')),
  '504': canned(504, { error: 'timeout', source: 'internal' }),
} as const;

/** A function opens a fault that counts pages. */
const faults = { ...statusFaults, ...wireFaults, ...pageFaults };

export type StatusFault = keyof typeof statusFaults;
/** A fault that is more than a refusal. */
export type HostileFault = keyof typeof wireFaults | keyof typeof pageFaults;
export type FaultName = keyof typeof faults;

/** All faults that have a name. */
export const faultNames = Object.keys(faults) as readonly FaultName[];

/** A fault by its name; one that counts pages begins to count. */
export function openFault(name: FaultName): Fault {
  const fault: Fault | (() => Fault) = faults[name];
  return typeof fault === 'function' ? fault() : fault;
}

/** A fault, and how often it happens. */
export interface FaultRate {
  readonly name: FaultName;
  /** Part of the requests, above 0 and at most 1. */
  readonly rate: number;
}

/** Each request draws for each fault in turn; the first that is drawn happens. */
export function faultsAtRates(rates: readonly FaultRate[]): Faults {
  const opened = rates.map(({ name, rate }) => ({ fault: openFault(name), rate }));
  return (_request, random) => opened.find(({ rate }) => random() < rate)?.fault ?? null;
}
