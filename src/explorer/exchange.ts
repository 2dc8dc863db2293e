import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, type ZlibOptions } from 'node:zlib';
import { type Dispatcher, request } from 'undici';
import { ExplorerError } from './error.ts';
import { excerpt } from './response.ts';

export interface Exchange {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decompressed. */
  readonly body: Buffer;
  /** On the wire, compressed. */
  readonly bytes: number;
}

export interface ExchangeOptions {
  readonly dispatcher: Dispatcher;
  /** For the whole answer, in ms. */
  readonly totalMs: number;
  /** In bytes, on the wire and again decompressed. */
  readonly maxBodyBytes: number;
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

/**
 * One GET; reads the body to its end, so that the connection can be reused. Redirects are ordinary answers. Throws the
 * signal's reason, or ExplorerError 'unreachable' (no, late or damaged answer), 'envelope-invalid' (too large).
 */
export async function exchange(url: URL, options: ExchangeOptions): Promise<Exchange> {
  const { signal, totalMs } = options;
  signal.throwIfAborted();
  // AbortSignal.any and AbortSignal.timeout stay in memory until their time has passed (2 KB).
  const limit = new AbortController();
  const abort = (): void => limit.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const detail = `no complete answer within ${totalMs} ms`;
  const late = () => new ExplorerError({ failure: 'unreachable', status: null, detail });
  const timer = setTimeout(() => limit.abort(late()), totalMs);
  try {
    return await receive(url, limit.signal, options);
  } catch (error) {
    signal.throwIfAborted();
    limit.signal.throwIfAborted();
    throw failure(error, options);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

async function receive(url: URL, signal: AbortSignal, options: ExchangeOptions): Promise<Exchange> {
  const answer = await request(url, {
    dispatcher: options.dispatcher,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'gzip, br',
      'user-agent': 'explorer-etl',
    },
    signal,
  });
  const pieces: Buffer[] = [];
  // A body over the limit ends here with undici's error: the dispatcher has `maxResponseSize`.
  for await (const piece of answer.body as AsyncIterable<Buffer>) {
    pieces.push(piece);
  }
  const raw = Buffer.concat(pieces);
  const encoding = answer.headers['content-encoding']?.toString() ?? 'identity';
  const body = await inflate(raw, encoding.trim().toLowerCase(), options.maxBodyBytes);
  return { status: answer.statusCode, headers: answer.headers, body, bytes: raw.length };
}

/** Codes of undici and zlib for a body over the limit. */
const tooLarge = new Set<unknown>(['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'ERR_BUFFER_TOO_LARGE']);

/** A transport's error may hold sockets, headers and the URL: the cause is a redacted copy. */
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

const decoders = new Map([
  ['br', promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress)],
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
]);

/**
 * Decodes the Content-Encoding. RangeError ERR_BUFFER_TOO_LARGE as soon as more than `maxBytes` have come out: a
 * small body must not fill memory. A damaged body is zlib's error, an encoding not requested a TypeError.
 */
async function inflate(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  if (encoding === 'identity') return body;
  const decode = decoders.get(encoding);
  if (decode === undefined) throw new TypeError('unknown content encoding');
  return decode(body, { maxOutputLength: maxBytes });
}
