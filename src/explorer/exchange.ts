import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, inflateRaw, unzip } from 'node:zlib';
import { type Dispatcher, request } from 'undici';
import { ExplorerError } from './error.ts';
import { excerpt } from './response.ts';

/** A complete answer, whatever its status. */
export interface Exchange {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decompressed. */
  readonly body: Buffer;
  /** Body bytes on the wire, compressed. */
  readonly bytes: number;
}

export interface ExchangeOptions {
  readonly dispatcher: Dispatcher;
  /** Time for one attempt. */
  readonly pace: PaceLimits;
  /** Monotonic, in ms. */
  readonly now: () => number;
  /** Largest body accepted, in bytes, on the wire and again decompressed. */
  readonly maxBodyBytes: number;
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

/**
 * One GET, its body read to the end so that the connection can serve the next. Redirects are
 * answers like others. Throws the signal's reason when it aborts, else ExplorerError
 * 'unreachable' (no, late, cut or unreadable answer) or 'envelope-invalid' (too large).
 */
export async function exchange(url: URL, options: ExchangeOptions): Promise<Exchange> {
  const { signal } = options;
  signal.throwIfAborted();
  // Not AbortSignal.any and AbortSignal.timeout: each pair stays in memory (2 KB measured, Node
  // 24) until its time has passed, long after the answer.
  const limit = new AbortController();
  const abort = (): void => limit.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const watch = watchPace(options.pace, options.now, (detail) =>
    limit.abort(new ExplorerError({ failure: 'unreachable', status: null, detail })),
  );
  try {
    return await receive(url, limit.signal, options, watch);
  } catch (error) {
    signal.throwIfAborted();
    limit.signal.throwIfAborted();
    throw failure(error, options);
  } finally {
    watch.stop();
    signal.removeEventListener('abort', abort);
  }
}

async function receive(
  url: URL,
  signal: AbortSignal,
  options: ExchangeOptions,
  watch: PaceWatch,
): Promise<Exchange> {
  const answer = await request(url, {
    dispatcher: options.dispatcher,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': 'explorer-etl',
    },
    signal,
  });
  watch.head();
  const pieces: Buffer[] = [];
  // A body over the limit ends here with undici's error: the dispatcher has `maxResponseSize`.
  for await (const piece of answer.body as AsyncIterable<Buffer>) {
    watch.received(piece.length);
    pieces.push(piece);
  }
  const raw = Buffer.concat(pieces);
  const encoding = answer.headers['content-encoding'];
  const body = await inflate(raw, encoding?.toString(), options.maxBodyBytes);
  if (answer.statusCode === 200 && !isFramed(answer.headers) && !isJson(body)) {
    throw new Error('the body was cut, or is not JSON');
  }
  return { status: answer.statusCode, headers: answer.headers, body, bytes: raw.length };
}

/** Whether the transport itself can detect a cut body. */
const isFramed = (headers: IncomingHttpHeaders): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

/** Codes of undici and zlib for a body over the limit. */
const tooLarge = new Set<unknown>(['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'ERR_BUFFER_TOO_LARGE']);

/**
 * The foreign error is never kept: a transport's errors hold sockets, headers and now and then the whole URL. The
 * cause is a new one with its name, code and redacted message.
 */
function failure(error: unknown, { redact, maxBodyBytes }: ExchangeOptions): ExplorerError {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const code = error instanceof Error && 'code' in error ? error.code : null;
  const cause = Object.assign(new Error(redact(message)), {
    name,
    ...(typeof code === 'string' && { code }),
  });
  if (tooLarge.has(code)) {
    const detail = `the body exceeds ${maxBodyBytes} bytes`;
    return new ExplorerError({ failure: 'envelope-invalid', status: null, detail, cause });
  }
  const parts = [code, cause.message].filter((part) => typeof part === 'string' && part !== '');
  const detail = excerpt(parts.join(': '), redact);
  return new ExplorerError({ failure: 'unreachable', status: null, detail, cause });
}

/** How long an answer may take, by how much of it has come. */
interface PaceLimits {
  /** From the request to the end of the answer's head, in ms. */
  readonly headMs: number;
  /** What a body may take whatever its size, in ms. */
  readonly bodyGraceMs: number;
  /** The slowest pace of a body beyond that, in bytes on the wire a second. */
  readonly slowestBytesPerSecond: number;
  /** Whatever its size, in ms. */
  readonly totalMs: number;
}

/** Receives what has come of an answer. */
type PaceWatch = ReturnType<typeof watchPace>;

/**
 * Watches over the time of one answer. A limit between two pieces alone lets a byte a second through: a page
 * of 100 KB then held its feed until the limit of the whole. With a pace a trickle is late within
 * seconds, and a large body on a slow line has the time that its size needs.
 *
 * @param now monotonic, in ms
 * @param onLate called once if too little has come for the time
 */
function watchPace(limits: PaceLimits, now: () => number, onLate: (detail: string) => void) {
  const startMs = now();
  let bodyStartMs: number | null = null;
  let bytes = 0;
  const allowedUntilMs = () => {
    const ownMs =
      bodyStartMs === null
        ? startMs + limits.headMs
        : bodyStartMs + limits.bodyGraceMs + (1000 * bytes) / limits.slowestBytesPerSecond;
    return Math.min(startMs + limits.totalMs, ownMs);
  };
  const check = () => {
    const leftMs = allowedUntilMs() - now();
    if (leftMs > 0) {
      timer = setTimeout(check, Math.ceil(leftMs));
      return;
    }
    onLate(
      now() - startMs >= limits.totalMs
        ? `no complete answer within ${limits.totalMs} ms`
        : bodyStartMs === null
          ? `no answer within ${limits.headMs} ms`
          : `the answer came too slowly: ${bytes} bytes in ${Math.round(now() - bodyStartMs)} ms`,
    );
  };
  // Looked at when the time that is allowed by now is over, not at each piece of a body.
  let timer = setTimeout(check, allowedUntilMs() - startMs);
  return {
    head() {
      bodyStartMs = now();
      clearTimeout(timer);
      check();
    },
    received: (more: number) => void (bytes += more),
    stop: () => clearTimeout(timer),
  };
}

/** Encodings one body may be wrapped in; a second one is already a proxy's mistake. */
const mostEncodings = 2;

const decoders = {
  br: promisify(brotliDecompress),
  gzip: promisify(unzip),
  'x-gzip': promisify(unzip),
  deflate: (body: Buffer, limit: { maxOutputLength: number }) =>
    // RFC 9110 (8.4.1.2) means zlib by deflate; some servers send it raw.
    promisify(((body[0] ?? 0) & 0x0f) === 8 ? unzip : inflateRaw)(body, limit),
};

/**
 * The body without its Content-Encoding. Inflating stops with RangeError ERR_BUFFER_TOO_LARGE as
 * soon as more than `maxBytes` have come out, so a small body cannot grow to fill memory.
 * A cut or damaged body is zlib's error; an unknown encoding a TypeError.
 */
async function inflate(
  body: Buffer,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Buffer> {
  const names = (encoding ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > mostEncodings) throw new TypeError('too many content encodings');
  let plain = body;
  // The last encoding listed was applied last.
  for (const name of names.toReversed()) {
    if (!isKnown(name)) throw new TypeError('unknown content encoding');
    plain = await decoders[name](plain, { maxOutputLength: maxBytes });
  }
  return plain;
}

const isKnown = (name: string): name is keyof typeof decoders => Object.hasOwn(decoders, name);
