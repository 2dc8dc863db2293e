import type { ServerResponse } from 'node:http';
import type { Answer } from './pages.ts';

/** What goes wrong with one answer. */
export type Fault = CannedFault | PageFault | WireFault;

/** An answer that the service gives in place of the true one. */
export interface CannedFault {
  readonly status: number;
  /** Text is sent as it is, as HTML; anything else as JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string | number>>;
}

/** A true answer that goes wrong on its way. */
export interface WireFault {
  readonly wire: (wire: Wire) => void | Promise<void>;
}

/** What is to be sent, and where. */
export interface Wire {
  readonly response: ServerResponse;
  /** The JSON of the true answer. */
  readonly body: Buffer;
  /** How many requests came before this one. */
  readonly number: number;
  readonly signal: AbortSignal;
}

/** What a fault may depend on. */
export interface FaultRequest {
  /** 0 if the path has none. */
  readonly chainId: number;
  readonly operation: string;
  /** Null for a list that has no batches. */
  readonly batch: number | null;
  /** The cursor as the query has it, null for a list's first page; and what the query calls it. */
  readonly cursor: string | null;
  readonly cursorName: string;
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
  '403': canned(403, { error: 'Forbidden' }),
  '403-html': canned(403, html('Attention Required! | Cloudflare')),
  '404-ingress': canned(404, 'default backend - 404'),
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

/** The true answer to a URL. */
export type Serve = (url: URL) => Answer;

/** A page that is made from the true one to this URL, or to others. */
export interface PageFault {
  readonly page: (url: URL, serve: Serve) => Answer;
}

/** A page as the service's lists make it. */
export interface Page {
  readonly items: readonly Item[];
  readonly next_page_params?: Cursor | null;
}

export type Item = Readonly<Record<string, unknown>>;
export type Cursor = Readonly<Record<string, string | number | null>>;

/** Makes another page of the true one; what is no page stays as it is. */
export const alterPage = (alter: (page: Page, url: URL) => object): PageFault => ({
  page(url, serve) {
    const answer = serve(url);
    return answer.status === 200 ? { ...answer, body: alter(answer.body as Page, url) } : answer;
  },
});

export type StatusFault = keyof typeof statusFaults;

/** The simplest answers that are none. */
export const brokenAnswers = {
  '200-html': canned(200, html('Just a moment')),
  'no-answer': { wire: () => undefined },
  reset: { wire: ({ response }) => void response.socket?.resetAndDestroy() },
} as const satisfies Readonly<Record<string, Fault>>;

/** Faults that `simulate` offers. */
const faults = { ...statusFaults, ...brokenAnswers };

export type FaultName = keyof typeof faults;

export const faultNames = Object.keys(faults) as readonly FaultName[];

/** A fault, and how often it happens. */
export interface FaultRate {
  readonly name: FaultName;
  /** Part of the requests, above 0 and at most 1. */
  readonly rate: number;
}

/** Each request draws for each fault in turn; the first that is drawn happens. */
export const faultsAtRates =
  (rates: readonly FaultRate[]): Faults =>
  (_request, random) => {
    const drawn = rates.find(({ rate }) => random() < rate);
    return drawn === undefined ? null : faults[drawn.name];
  };
