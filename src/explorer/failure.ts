import { z } from 'zod';
import { excerpt } from './excerpt.ts';

/** What went wrong with a request or the walk that sent it. */
export type FailureClass =
  | 'unreachable'
  | 'throttled'
  | 'out-of-credits'
  | 'unauthorized'
  | 'key-missing'
  | 'unsupported'
  | 'rejected'
  | 'cursor-refused'
  | 'envelope-invalid'
  | 'cursor-loop';

/** What a class means for the request, the feed and the person who runs it. */
export interface FailureRule {
  /** 'in-place': the same request again after a short wait; 'none': repeating it cannot help. */
  readonly retry: 'in-place' | 'none';
  /** Whether it uses up the attempts that a request has. Being throttled is no failure. */
  readonly counts: 'as-failure' | 'as-wait';
  /** Whom it stops: this walk, this feed, or every feed that uses the key. */
  readonly stops: 'walk' | 'feed' | 'key';
  /** The state that the feed shows until it succeeds again. */
  readonly feed: 'degraded' | 'waiting' | 'unauthorized' | 'unsupported' | 'failed';
  /** What to do, in one sentence. */
  readonly advice: string;
}

/** The one table from class to action; section 7 of the design. */
export const failures: Readonly<Record<FailureClass, FailureRule>> = {
  unreachable: {
    retry: 'in-place',
    counts: 'as-failure',
    stops: 'feed',
    feed: 'degraded',
    advice:
      'Nothing to do: it is tried again with growing intervals; check the network and EXPLORER_BASE_URL if it lasts.',
  },
  throttled: {
    retry: 'in-place',
    counts: 'as-wait',
    stops: 'key',
    feed: 'waiting',
    advice:
      'Nothing to do: it goes on when the limit allows; lower explorer.requests_per_second if others share the key.',
  },
  'out-of-credits': {
    retry: 'none',
    counts: 'as-failure',
    stops: 'key',
    feed: 'waiting',
    advice: 'Wait for the reset (midnight UTC on the free plan) or choose a larger plan.',
  },
  unauthorized: {
    retry: 'none',
    counts: 'as-failure',
    stops: 'key',
    feed: 'unauthorized',
    advice: 'Check EXPLORER_API_KEY: the explorer does not accept this key.',
  },
  'key-missing': {
    retry: 'none',
    counts: 'as-failure',
    stops: 'key',
    feed: 'unauthorized',
    advice: 'Set EXPLORER_API_KEY: the explorer saw no key in the request.',
  },
  unsupported: {
    retry: 'none',
    counts: 'as-failure',
    stops: 'feed',
    feed: 'unsupported',
    advice:
      'The explorer does not serve this operation on this chain: remove it from the configuration, or leave it to be looked at again at every scheduled time.',
  },
  rejected: {
    retry: 'none',
    counts: 'as-failure',
    stops: 'feed',
    feed: 'failed',
    advice:
      'The explorer refused a parameter: check the configuration of this feed against what it said.',
  },
  'cursor-refused': {
    retry: 'none',
    counts: 'as-failure',
    stops: 'walk',
    feed: 'degraded',
    advice:
      'Nothing to do: this walk is abandoned, its rows stay, and the next one goes in from the head or an earlier page.',
  },
  'envelope-invalid': {
    retry: 'in-place',
    counts: 'as-failure',
    stops: 'feed',
    feed: 'degraded',
    advice:
      'The explorer answered something that is not a page: it is tried again later; report it if it lasts.',
  },
  'cursor-loop': {
    retry: 'none',
    counts: 'as-failure',
    stops: 'walk',
    feed: 'failed',
    advice:
      'The explorer served a cursor that this walk has used before: rows are kept; report it to the service.',
  },
};

interface Answered {
  readonly statuses: readonly [from: number, to: number];
  /** What the answer's own message must match; absent: any. */
  readonly says?: RegExp;
  readonly failure: FailureClass;
}

/** Answer to class, first match first; the error table of explorer-api.md, widest rules last. */
const answers: readonly Answered[] = [
  // A redirect is never followed: it would carry the key to another host.
  { statuses: [300, 399], failure: 'unreachable' },
  { statuses: [400, 400], says: /unknown api v2 action/iu, failure: 'unsupported' },
  { statuses: [400, 599], says: /service is disabled/iu, failure: 'unsupported' },
  { statuses: [400, 400], says: /^3: /u, failure: 'cursor-refused' },
  { statuses: [401, 401], failure: 'unauthorized' },
  { statuses: [402, 402], says: /credit/iu, failure: 'out-of-credits' },
  { statuses: [402, 402], says: /api key|payment/iu, failure: 'key-missing' },
  // An unknown 402 pauses the key until the reset, the one answer that spends nothing.
  { statuses: [402, 402], failure: 'out-of-credits' },
  { statuses: [403, 403], failure: 'unauthorized' },
  { statuses: [404, 404], says: /network not supported/iu, failure: 'unsupported' },
  { statuses: [408, 408], failure: 'unreachable' },
  { statuses: [425, 425], failure: 'unreachable' },
  { statuses: [429, 429], failure: 'throttled' },
  { statuses: [400, 499], failure: 'rejected' },
  { statuses: [501, 501], failure: 'unsupported' },
  { statuses: [500, 599], failure: 'unreachable' },
];

/** Largest body that is parsed to look for an error in it, in bytes; errors take a few hundred. */
const largestErrorBytes = 4096;

/**
 * The class of an answer, 'ok' for a page. Looks at a page's outside only: a large body passes
 * when it is an object from its first to its last byte, and decoding has the last word.
 */
export function classify(status: number, body: Buffer): FailureClass | 'ok' {
  if (status === 200) return looksLikePage(body) ? 'ok' : 'envelope-invalid';
  const said = message(body) ?? '';
  const answer = answers.find(
    ({ statuses: [from, to], says }) =>
      status >= from && status <= to && (says?.test(said) ?? true),
  );
  return answer?.failure ?? 'envelope-invalid';
}

/** What an unwelcome answer says of itself, as one redacted line of at most 200 characters. */
export function describe(body: Buffer, redact: (text: string) => string): string {
  if (body.length === 0) return 'an empty body';
  const said = message(body);
  if (said !== null) return excerpt(said, redact);
  const text = body.toString('utf8', 0, largestExcerptBytes);
  const title = /<title[^>]*>([^<]*)/iu.exec(text)?.[1];
  return title === undefined ? excerpt(text, redact) : `an HTML page: ${excerpt(title, redact)}`;
}

/** Bytes of a body that an excerpt is made of. */
const largestExcerptBytes = 64 * 1024;

/** Bytes of each end of a large body that are looked at: room for a BOM and white space. */
const endBytes = 64;

function looksLikePage(body: Buffer): boolean {
  if (body.length > largestErrorBytes) {
    const start = body.toString('utf8', 0, endBytes).trimStart();
    const end = body.toString('latin1', body.length - endBytes).trimEnd();
    return start.startsWith('{') && end.endsWith('}');
  }
  const value = object(body);
  return value !== null && ('items' in value || message(body) === null);
}

/** The message in an error body of any of the service's shapes; null when there is none. */
function message(body: Buffer): string | null {
  const value = body.length > largestErrorBytes ? null : object(body);
  if (value === null) return null;
  if (Array.isArray(value.errors)) return value.errors.map(invalidParameter).join('; ');
  const text = value.message ?? value.error ?? value.errors ?? null;
  if (text === null) return null;
  const words = typeof text === 'string' ? text : JSON.stringify(text);
  return typeof value.code === 'number' ? `${value.code}: ${words}` : words;
}

/** `Invalid value /page_size: must be …`: an entry of a 422's errors (JSON:API's error object). */
function invalidParameter(entry: unknown): string {
  const parsed = parameterError.safeParse(entry);
  if (!parsed.success) return JSON.stringify(entry);
  const { title, source, detail } = parsed.data;
  const subject = [title, source?.pointer].filter((part) => part !== undefined).join(' ');
  return [subject, detail].filter((part) => part !== undefined && part !== '').join(': ');
}

const parameterError = z.object({
  title: z.string().optional(),
  source: z.object({ pointer: z.string().optional() }).optional(),
  detail: z.string().optional(),
});

function object(body: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8').trim());
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
