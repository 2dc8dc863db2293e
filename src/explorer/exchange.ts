import type { IncomingHttpHeaders } from 'node:http';
import { request, type Dispatcher } from 'undici';
import { ExplorerError, cleanCause } from './error.ts';
import { excerpt } from './excerpt.ts';
import { inflate } from './inflate.ts';
import { watchPace, type PaceLimits, type PaceWatch } from './pace.ts';

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
  const watch = watchPace(options.pace, options.now, (detail) => limit.abort(late(detail)));
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

const late = (detail: string): ExplorerError =>
  new ExplorerError({ failure: 'unreachable', status: null, detail });

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

/** Whether the transport itself can tell a whole body from a cut one. */
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

function failure(error: unknown, options: ExchangeOptions): ExplorerError {
  const cause = cleanCause(error, options.redact);
  const code = 'code' in cause ? cause.code : null;
  if (tooLarge.has(code)) {
    const detail = `the body exceeds ${options.maxBodyBytes} bytes`;
    return new ExplorerError({ failure: 'envelope-invalid', status: null, detail, cause });
  }
  const parts = [code, cause.message].filter((part) => part !== null && part !== '');
  const detail = excerpt(parts.join(': '), options.redact);
  return new ExplorerError({ failure: 'unreachable', status: null, detail, cause });
}
