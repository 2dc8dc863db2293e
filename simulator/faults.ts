import type { CannedFault, Fault, Faults } from './fault.ts';
import { pageFaults } from './page-faults.ts';
import { redirect, wireFaults } from './wire-faults.ts';

const html = (title: string) =>
  `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;

const tooMany = { message: 'Too many requests. Please slow down.' };

/** How long a throttled client has to wait, in s. */
const pauseSeconds = 1;

/** Every answer that the service is known to refuse or fail with, by a name of ours. */
export const statusFaults = {
  '400-action': { status: 400, body: { message: 'Unknown API v2 action' } },
  '400-token': { status: 400, body: { code: 3, message: 'invalid format of page_token' } },
  '401': { status: 401, body: { error: 'Unauthorized' } },
  '402-credits': { status: 402, body: { error: 'Out of credits' } },
  '402-key': {
    status: 402,
    body: { error: 'Proceed with API key or make a X402 payment to continue' },
  },
  '404-network': { status: 404, body: { error: 'Network not supported', source: 'internal' } },
  '422': {
    status: 422,
    body: {
      errors: [
        { title: 'Invalid value', source: { pointer: '/page_size' }, detail: 'is too large' },
      ],
    },
  },
  '429-bare': { status: 429, body: { error: 'Too many requests' } },
  '429-seconds': { status: 429, body: tooMany, headers: { 'retry-after': pauseSeconds } },
  '429-date': {
    status: 429,
    body: tooMany,
    headers: {
      date: 'Wed, 21 Oct 2026 07:28:00 GMT',
      'retry-after': `Wed, 21 Oct 2026 07:28:0${pauseSeconds} GMT`,
    },
  },
  '429-reset': {
    status: 429,
    body: tooMany,
    headers: { 'x-ratelimit-remaining': 0, 'x-ratelimit-reset': pauseSeconds * 1000 },
  },
  '500': { status: 500, body: { error: 'Internal server error', source: 'upstream' } },
  '501': { status: 501, body: { error: 'Not implemented', source: 'upstream' } },
  '501-disabled': { status: 501, body: { message: 'Service is disabled' } },
  '502-html': { status: 502, body: html('502 Bad Gateway') },
  '503': { status: 503, body: { error: 'Service unavailable', source: 'internal' } },
  '504-html': { status: 504, body: html('504 Gateway Time-out') },
  '504': { status: 504, body: { error: 'timeout', source: 'internal' } },
} as const satisfies Readonly<Record<string, CannedFault>>;

export type StatusFault = keyof typeof statusFaults;
/** A fault that is more than a refusal. */
export type HostileFault = keyof typeof wireFaults | keyof typeof pageFaults;
export type FaultName = StatusFault | HostileFault;

/** All faults that have a name. */
export const faultNames = Object.keys({
  ...statusFaults,
  ...wireFaults,
  ...pageFaults,
}) as readonly FaultName[];

/** A fault by its name; one that counts pages begins to count. */
export function openFault(name: FaultName): Fault {
  if (isIn(wireFaults, name)) return { wire: wireFaults[name] };
  if (isIn(statusFaults, name)) return statusFaults[name];
  const fault = pageFaults[name];
  return typeof fault === 'function' ? fault() : fault;
}

const isIn = <Table extends object>(table: Table, name: PropertyKey): name is keyof Table =>
  name in table;

/** A redirect to this origin, such as `http://127.0.0.1:8080`. */
export const redirectTo = (origin: string) => (): Fault => ({ wire: redirect(origin) });

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
