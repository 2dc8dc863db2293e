import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Answer } from './pages.ts';

/** A smaller body is not worth a compressor's set-up, bytes. */
const gzipFromBytes = 1024;
const compress = promisify(gzip);

interface Sending {
  /** Beside those of the body. */
  readonly headers: Readonly<Record<string, string | number>>;
  readonly latencyMs: number;
  /** Whether to compress for clients that accept it. */
  readonly gzip: boolean;
  readonly signal: AbortSignal;
}

/** A body as bytes: text and bytes as they are, anything else as JSON. */
export function spellBody(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Sends an answer after its latency: text as HTML, anything else as JSON. */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  { headers, latencyMs, gzip: mayCompress, signal }: Sending,
): Promise<void> {
  const isHtml = typeof answer.body === 'string';
  const plain = spellBody(answer.body);
  const isCompressed =
    mayCompress &&
    plain.length > gzipFromBytes &&
    /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  const body = isCompressed ? await compress(plain, { level: constants.Z_BEST_SPEED }) : plain;
  if (latencyMs > 0) await delay(latencyMs, undefined, { signal });
  response.writeHead(answer.status, {
    'content-type': isHtml ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    'content-length': body.length,
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    ...headers,
  });
  response.end(body);
}
