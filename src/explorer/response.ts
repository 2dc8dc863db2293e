import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { parseExactly } from '../exact-number.ts';
import type { FailureClass } from '../failure.ts';
import { printable } from '../printable.ts';
import { createMask, createRedactor } from '../redact.ts';
import { ExplorerError, failureIn } from './error.ts';

/** An answer of the explorer, or of something in front of it. */
export interface Answer {
  /** Scheme and host of the request. */
  readonly origin: string;
  readonly status: number;
  readonly headers: Headers;
  /** Decompressed. */
  readonly body: Buffer;
  /** On the wire, compressed. */
  readonly bytes: number;
}

/** A page without our keys. */
export interface Page extends Pick<Answer, 'body' | 'bytes'> {
  readonly json: Readonly<z.infer<typeof envelope>>;
}

/** A page is requested with at most 50; each that is no item takes up to 0.1 ms. */
const mostItems = 500;

/** The spec's table 2.1: `next_page_params` null or `{}` is the end; without it, malformed. */
const envelope = z.looseObject({
  items: z.array(z.unknown()).max(mostItems),
  next_page_params: z.looseObject({}).nullable(),
});

/**
 * Returns a function that reads the page that an answer is, and masks the keys in what it decodes to: a service that
 * echoes its request repeats them. An echo is looked for as it is, or if the page has the sign of an escape, which few
 * have.
 */
export function createPageReader(secrets: readonly string[], redact: (text: string) => string) {
  const keys = secrets.filter((key) => key.length >= shortestMasked);
  const hide = createMask(keys);
  const signs = [...keys.map(traceOf), '\\', '%', '&'];
  const read = (answer: Answer): Page => {
    const { status, body, bytes } = answer;
    if (status !== 200 || body.length === 0 || isForeign(body)) throw refusalOf(answer, redact);
    const json = parseBody(body, redact);
    const page = { body, bytes, json: envelopeOf(json, redact) };
    if (!signs.some((sign) => body.includes(sign))) return page;
    const [raw, decoded] = [body.toString(), JSON.stringify(json)];
    const clean = hide(decoded);
    // Of two fields with one name, only the body has the first.
    if (clean === decoded && hide(raw) === raw) return page;
    const masked = Buffer.from(clean);
    return { body: masked, bytes, json: envelopeOf(parseBody(masked, redact), redact) };
  };
  return (answer: Answer): Page | ExplorerError => {
    try {
      return read(answer);
    } catch (error) {
      const { failure, status, detail } = failureIn(error);
      // Also an HTTP 200 that is no page may state a wait.
      const stated = retryAfterMs(answer.status, answer.headers, Date.now());
      return new ExplorerError({ failure, status, detail, retryAfterMs: stated });
    }
  };
}

/** Shorter keys would mask data; no service issues such. */
const shortestMasked = 8;

/**
 * A part of a key that JSON, HTML, URLs and forms leave unchanged: a cheap search on every page. JSON alone can write a
 * key with odd characters in many ways.
 */
const traceOf = (key: string): string => /[\w.-]+/u.exec(key)?.[0] ?? '';

/** An error quotes the beginning of what is no page: a person then sees which service answers. */
function envelopeOf(json: unknown, redact: (text: string) => string): Page['json'] {
  const page = envelope.safeParse(json);
  if (page.success) return page.data;
  const message = messageOf(json);
  if (message !== null) throw notPage(excerpt(message, redact));
  throw notPage(`${issuesText(page.error)}; it begins ${excerpt(JSON.stringify(json), redact)}`);
}

/** The fields that are wrong, and why. */
export const issuesText = (error: z.ZodError) =>
  error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`).join('; ');

function refusalOf(answer: Answer, redact: (text: string) => string): ExplorerError {
  const { origin, status, headers, body } = answer;
  const [location] = valuesOf(headers, 'location');
  const detail =
    status >= 300 && status < 400 && location !== undefined
      ? `redirected to ${excerpt(targetHost(redact(location), origin), redact)}, not followed`
      : describeBody(body, redact);
  return new ExplorerError({ failure: classify(status, body), status, detail });
}

const targetHost = (location: string, origin: string): string =>
  URL.parse(location, origin)?.host ?? 'an unreadable location';

/** What a refusal says of itself, as one redacted line of at most 200 characters and its sender. */
export function describeBody(body: Buffer, redact: (text: string) => string): string {
  if (body.length === 0) return 'an empty body';
  const message = messageIn(body);
  if (message !== null) return excerpt(message, redact);
  const text = body.toString('utf8', 0, readAhead);
  if (!isForeign(body)) return excerpt(text, redact);
  const title = /<title[^<>]*>([^<]*)/iu.exec(text)?.[1] ?? text;
  return `something in front of the explorer answers: ${excerpt(title, redact)}`;
}

/** Whether a body cannot be the explorer's, which answers in JSON: a page or text of a firewall, proxy or login. */
const isForeign = (body: Buffer): boolean =>
  /^\s*[^\s[{"]/u.test(body.toString('utf8', 0, readAhead));

/** The message in a refusal; null: none. */
function messageIn(body: Buffer): string | null {
  try {
    return messageOf(parseBody(body));
  } catch {
    return null;
  }
}

/** The message in an error of any of the service's shapes; null: none. */
function messageOf(json: unknown): string | null {
  if (typeof json !== 'object' || json === null) return null;
  const value: Readonly<Record<string, unknown>> = { ...json };
  if (Array.isArray(value.errors))
    return value.errors.slice(0, 10).map(invalidParameter).join('; ');
  const text = value.message ?? value.error ?? value.errors ?? null;
  if (text === null) return null;
  const words = typeof text === 'string' ? text : JSON.stringify(text);
  return typeof value.code === 'number' ? `${value.code}: ${words}` : words;
}

/** A 422's error (JSON:API), such as `Invalid value /page_size: must be …`. */
function invalidParameter(issue: unknown): string {
  const parsed = parameterError.safeParse(issue);
  if (!parsed.success) return JSON.stringify(issue);
  const { title, source, detail } = parsed.data;
  const subject = [title, source?.pointer].filter((part) => part !== undefined).join(' ');
  return [subject, detail].filter((part) => part !== undefined && part !== '').join(': ');
}

const parameterError = z.object({
  title: z.string().optional(),
  source: z.object({ pointer: z.string().optional() }).optional(),
  detail: z.string().optional(),
});

interface Answered {
  readonly statuses: readonly [from: number, to: number];
  /** What the answer's message must match; absent: any. */
  readonly says?: RegExp;
  /** Whether only something in front of the explorer answers so. */
  readonly isForeign?: true;
  readonly failure: FailureClass;
}

/** First match wins; the widest rules come last. */
const answers: readonly Answered[] = [
  // A redirect is never followed: it would carry the key to another host.
  { statuses: [300, 399], failure: 'unreachable' },
  { statuses: [400, 400], says: /unknown api v2 action/iu, failure: 'unsupported' },
  { statuses: [400, 599], says: /service is disabled/iu, failure: 'unsupported' },
  { statuses: [404, 404], says: /network not supported/iu, failure: 'unknown-chain' },
  { statuses: [404, 404], failure: 'not-found' },
  { statuses: [410, 410], failure: 'not-found' },
  { statuses: [408, 408], failure: 'unreachable' },
  { statuses: [425, 425], failure: 'unreachable' },
  { statuses: [429, 429], failure: 'throttled' },
  // Never a fact about the key or the list. A proxy that wants a login may send no text.
  { statuses: [407, 407], failure: 'intercepted' },
  { statuses: [200, 499], isForeign: true, failure: 'intercepted' },
  { statuses: [400, 400], says: /^3: /u, failure: 'cursor-refused' },
  { statuses: [400, 400], failure: 'not-found' },
  { statuses: [401, 401], failure: 'unauthorized' },
  { statuses: [402, 402], says: /credit/iu, failure: 'out-of-credits' },
  { statuses: [402, 402], says: /api key|payment/iu, failure: 'key-missing' },
  // An unknown 402 pauses the key until the reset: the only answer that spends nothing.
  { statuses: [402, 402], failure: 'out-of-credits' },
  {
    statuses: [403, 403],
    says: /\b(?:invalid|unknown|expired|revoked|missing|no)\b.{0,20}\bapi.?key\b/iu,
    failure: 'unauthorized',
  },
  { statuses: [422, 422], failure: 'rejected' },
  { statuses: [400, 499], failure: 'forbidden' },
  { statuses: [501, 501], failure: 'unsupported' },
  { statuses: [500, 599], failure: 'unreachable' },
];

/** The class of an answer that is no page. */
function classify(status: number, body: Buffer): FailureClass {
  const said = messageIn(body) ?? '';
  const answer = answers.find(
    ({ statuses: [from, to], says = /^/u, isForeign: mustBe = false }) =>
      status >= from && status <= to && says.test(said) && (!mustBe || isForeign(body)),
  );
  return answer?.failure ?? 'envelope-invalid';
}

/** Fifty items take 55 to 500 KB; the largest fields seen, a few MB. */
export const largestBodyBytes = 8 * 1024 * 1024;
/** Most bodies are smaller: unpacked into one buffer, they need no joining. */
export const usualBodyBytes = 64 * 1024;

const decoders = new Map<string, typeof gunzipSync>([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
]);

/**
 * Decodes the Content-Encodings, the last first, at once: a page takes less than its way to a thread and back. Proxies
 * name one twice. RangeError ERR_BUFFER_TOO_LARGE as soon as more than `maxBytes` have come out: a small body must not
 * fill memory. A damaged body is zlib's error, an encoding not requested a TypeError.
 */
export function decompress(raw: Buffer, headers: Headers, maxBytes: number): Buffer {
  const codings = valuesOf(headers, 'content-encoding').map((name) => name.toLowerCase());
  return [...new Set(codings.toReversed())].reduce((body, coding) => {
    if (coding === 'identity') return body;
    const decode = decoders.get(coding);
    if (decode === undefined) throw new TypeError('unknown content encoding');
    return decode(body, { maxOutputLength: maxBytes, chunkSize: usualBodyBytes });
  }, raw);
}

/** A page of 500 KB has 15,000 values, in ten levels. More take seconds and the stack: a byte may become a hundred. */
const mostValues = 30_000;
const mostLevels = 1_024;
/** In a row. An amount in wei has 78; with a million times as many, the parser of numbers runs out of stack. */
const mostDigits = 10_000;

/** Why a body would become too much to parse; null: it would not. Takes a third of the parse. */
function excessOf(body: Buffer): string | null {
  const { length } = body;
  let values = 1;
  let levels = 0;
  let digits = 0;
  for (let at = 0; at < length; at += 1) {
    const byte = body[at] ?? 0;
    digits = byte >= 0x30 && byte <= 0x39 ? digits + 1 : 0;
    if (digits > mostDigits) return `the body has a number of more than ${mostDigits} digits`;
    if (byte === 0x22 /* " */) {
      at += 1;
      while (at < length && body[at] !== 0x22) at += body[at] === 0x5c /* \ */ ? 2 : 1;
    } else if (byte === 0x2c /* , */) {
      values += 1;
    } else if (byte === 0x5b /* [ */ || byte === 0x7b /* { */) {
      values += 1;
      levels += 1;
      if (levels > mostLevels) return `the body nests deeper than ${mostLevels} levels`;
    } else if (byte === 0x5d /* ] */ || byte === 0x7d /* } */) {
      levels -= 1;
    }
  }
  return values > mostValues ? `the body has more than ${mostValues} values` : null;
}

/**
 * Parses a body: NUL is removed and lone surrogates are replaced (Postgres refuses both, 22P05), numbers keep their
 * digits, and `__proto__` is an own property. Throws ExplorerError 'envelope-invalid' with an excerpt masked by
 * `redact`; without it only key parameters are masked.
 */
export function parseBody(
  body: Buffer,
  redact: (text: string) => string = createRedactor([]),
): unknown {
  const excess = excessOf(body);
  if (excess !== null) throw notPage(excess);
  const text = body.toString('utf8').replace(/^\uFEFF/u, '');
  try {
    // Outside a string it makes the body no JSON, which the text without it may be.
    if (text.includes('\\u0000')) JSON.parse(text);
    return parseExactly(unstorable.test(text) ? text.replace(escapes, storable) : text);
  } catch {
    // A SyntaxError quotes the body, so it is not the cause.
    throw notPage(`the body is not JSON: ${excerpt(text, redact)}`);
  }
}

const notPage = (detail: string) =>
  new ExplorerError({ failure: 'envelope-invalid', status: 200, detail });

/** Few pages have one: to visit all escapes of a page takes several times as long as to parse it. */
const unstorable = /\\u(?:0000|[dD][89a-fA-F])/u;

/** Escapes of a backslash, of NUL, of a pair of surrogates and of a lone one. */
const escapes =
  /\\(?:\\|u0000|u[dD](?:[89abAB][\da-fA-F]{2}(?:\\u[dD][c-fC-F][\da-fA-F]{2})?|[c-fC-F][\da-fA-F]{2}))/gu;

/** Postgres text refuses NUL and lone surrogates. */
function storable(escape: string): string {
  if (escape === '\\u0000') return '';
  return escape.length === '\\ud800'.length ? '\\ufffd' : escape;
}

/** In characters: one or two lines of a terminal. */
const longest = 200;

/** Far more characters than shown: a secret is redacted whole before the cut. */
const readAhead = 64 * 1024;

/** The start of a foreign text as one redacted line of at most 200 harmless characters. */
export function excerpt(text: string, redact: (text: string) => string): string {
  const words = redact(text.slice(0, readAhead)).replaceAll(/\s+/gu, ' ').trim();
  const line = printable(words.slice(0, longest + 1));
  const cut = line.length <= longest ? line : `${line.slice(0, longest - 1)}…`;
  return cut.toWellFormed();
}

/** The headers of an answer, as undici gives them: names in lower case, a repeated one with a list. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** All values of a header, named in lower case. Proxies repeat headers, or join them by commas. */
export const valuesOf = (headers: Headers, name: string): string[] =>
  [headers[name] ?? []]
    .flat()
    // A comma before a day of the month is part of a date.
    .flatMap((text) => text.split(/,(?!\s*\d{1,2}[ -][a-z])/iu))
    .map((value) => value.trim())
    .filter((value) => value !== '');

const isNumber = (text: string): boolean => /^-?\d{1,15}(?:\.\d+)?$/u.test(text);

/** Whether a text is an HTTP date. `Date.parse` alone reads years into words. */
const isDate = (text: string): boolean =>
  /^[a-z]{3,9}, .{1,30} GMT$/iu.test(text) && !Number.isNaN(Date.parse(text));

/** The lowest of a header's numbers that `isValid`; null: none. */
function lowest(headers: Headers, name: string, isValid: (number: number) => boolean) {
  const numbers = valuesOf(headers, name).filter(isNumber).map(Number).filter(isValid);
  return numbers.length === 0 ? null : Math.min(...numbers);
}

export type RateHeaders = ReturnType<typeof rateHeaders>;

/** What an answer states of the key; nothing, if something in front of the explorer sent it. */
export const limitsOf = ({ headers, body }: Answer): RateHeaders =>
  rateHeaders(isForeign(body) ? {} : headers);

/** Longest wait that is believed: credits reset daily. */
const longestWaitMs = 24 * 60 * 60 * 1000;

/** The service's rate headers; null if absent, unreadable or -1 (unknown). */
export const rateHeaders = (headers: Headers) => ({
  limit: lowest(headers, 'x-ratelimit-limit', (number) => number >= 1),
  remaining: lowest(headers, 'x-ratelimit-remaining', (number) => number >= 0),
  /** Time until the limit's window ends; null also if it is a date, as of some gateways. */
  resetMs: lowest(headers, 'x-ratelimit-reset', (ms) => ms >= 0 && ms <= longestWaitMs),
  /** Below zero while a paid plan is served beyond its credits. */
  creditsRemaining: lowest(headers, 'x-credits-remaining', (number) => number !== -1),
});

/**
 * The wait that an answer states, in ms, at most a day; null: none. Retry-After is seconds or an HTTP date (RFC 9110,
 * 10.2.3), relative to the answer's Date, else `wallMs` (Unix time); a 429 without it has x-ratelimit-reset (ms). Of
 * several waits the longest.
 */
export function retryAfterMs(status: number, headers: Headers, wallMs: number): number | null {
  const sent = valuesOf(headers, 'date').find(isDate);
  const sentMs = sent === undefined ? wallMs : Date.parse(sent);
  const stated = valuesOf(headers, 'retry-after').flatMap((text) => {
    if (isNumber(text)) return Math.max(0, Number(text) * 1000);
    return isDate(text) ? Date.parse(text) - sentMs : [];
  });
  const reset = status === 429 ? rateHeaders(headers).resetMs : null;
  const waitMs = stated.length > 0 ? Math.max(...stated) : (reset ?? 0);
  // A wait of nothing is none: the client's own waits grow.
  return waitMs > 0 ? Math.min(waitMs, longestWaitMs) : null;
}
