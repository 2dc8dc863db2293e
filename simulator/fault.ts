import type { ServerResponse } from 'node:http';
import type { Answer } from './pages.ts';
import type { OperationName } from './route.ts';

/** What goes wrong with one answer. */
export type Fault = CannedFault | PageFault | WireFault;

/** An answer that the service gives in place of the true one. */
interface CannedFault {
  readonly status: number;
  /** Text is sent as it is, as HTML; anything else as JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string | number>>;
}

/** A page that is not the true one, but made from it. */
interface PageFault {
  readonly page: (asked: AskedPage) => Answer;
}

/** What a wrong page is made from. */
export interface AskedPage {
  readonly url: URL;
  /** The true answer to this URL, or to another. */
  readonly serve: (url: URL) => Answer;
}

/** A true answer that goes wrong on its way. */
interface WireFault {
  readonly wire: (wire: Wire) => Promise<void>;
}

/** What is to be sent, and where. */
export interface Wire {
  readonly response: ServerResponse;
  /** The true answer's JSON. */
  readonly body: Buffer;
  /** How many requests came before this one. */
  readonly number: number;
  readonly signal: AbortSignal;
}

/** What a fault may depend on. */
export interface FaultRequest {
  readonly chainId: number;
  readonly operation: OperationName | 'unknown';
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

const html = (title: string) =>
  `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;

const tooMany = { message: 'Too many requests. Please slow down.' };

/** How long a client that is throttled is told to wait, in s. */
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
