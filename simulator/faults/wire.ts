import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Fault, Wire } from '../fault.ts';
import { sendRaw } from './cut.ts';

/** What a slow answer takes for each piece, in ms. */
const slowMs = 1000;

const mebibyte = 1024 * 1024;

/** Unpacked, the bomb has 256 MiB, from 270 KB: a factor of a thousand is all that gzip gives. */
const bombMebibytes = 256;

/** Size of the large body, in MiB. */
const largeMebibytes = 100;

/** A body of valid JSON without a page's length: members of gzip one after the other are one body. */
function makeBomb(): Buffer {
  const filling = gzipSync(Buffer.alloc(mebibyte, 'x'));
  return Buffer.concat([
    gzipSync('{"items":[],"note":"'),
    ...Array.from({ length: bombMebibytes }, () => filling),
    gzipSync('"}'),
  ]);
}

function* largeBody(): Generator<Buffer> {
  const filling = Buffer.alloc(mebibyte, 'x');
  yield Buffer.from('{"items":[],"note":"');
  for (let sent = 0; sent < largeMebibytes; sent += 1) yield filling;
  yield Buffer.from('"}');
}

/** Ends when the client leaves, or after as much as the large body has. */
function* endlessHeaders(): Generator<string> {
  yield 'HTTP/1.1 200 OK\r\n';
  for (let line = 0; line < largeMebibytes * 1024; line += 1) {
    yield `x-line-${line}: ${'x'.repeat(1000)}\r\n`;
  }
}

/** Sends the pieces slowly, until the client leaves. */
async function drip(
  { response, signal }: Wire,
  pieces: Iterable<string | Uint8Array>,
): Promise<void> {
  const { socket } = response;
  for (const piece of pieces) {
    if (socket === null || socket.destroyed) return;
    socket.write(piece);
    await delay(slowMs, undefined, { signal });
  }
}

const headPieces = (count: number) =>
  Array.from({ length: count }, (_, line) =>
    line === 0 ? 'HTTP/1.1 200 OK\r\n' : `x-line-${line}: slow\r\n`,
  );

/** Slow lines of a head: more than anyone waits for. */
const slowLines = 600;

/**
 * Sends to another host, key and all.
 *
 * @param origin such as `http://127.0.0.1:8080`
 */
export const redirectTo = (origin: string) => (): Fault => ({
  async wire({ response }) {
    response.writeHead(302, { location: `${origin}${response.req.url ?? '/'}` }).end();
  },
});

/** Answers of a size or speed that nobody can want, and connections that end. */
export const wireFaults = {
  'gzip-bomb': () => {
    let bomb: Buffer | null = null;
    return {
      async wire({ response }) {
        bomb ??= makeBomb();
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length });
        response.end(bomb);
      },
    };
  },
  'body-of-100-mb': () => ({
    async wire({ response, signal }) {
      response.writeHead(200, { 'content-type': 'application/json' });
      await pipeline(Readable.from(largeBody()), response, { signal });
    },
  }),
  'byte-a-second': () => ({
    async wire(wire) {
      const head = `HTTP/1.1 200 OK\r\ncontent-length: ${wire.body.length}\r\n\r\n`;
      const bytes = Array.from(wire.body, (byte) => Uint8Array.of(byte));
      await drip(wire, [head, ...bytes]);
    },
  }),
  'endless-headers': () => ({
    async wire({ response, signal }) {
      if (response.socket === null) return;
      await pipeline(Readable.from(endlessHeaders()), response.socket, { signal });
    },
  }),
  'slow-headers': () => ({ wire: (wire) => drip(wire, headPieces(slowLines)) }),
  'no-answer': () => ({ wire: () => Promise.resolve() }),
  redirect: redirectTo('http://elsewhere.invalid'),
  'closed-without-answer': () => ({
    async wire({ response }) {
      response.socket?.end();
    },
  }),
  reset: () => ({
    async wire({ response }) {
      response.socket?.resetAndDestroy();
    },
  }),
  'reset-in-body': () => ({
    async wire({ response, body }) {
      const { socket } = response;
      response.writeHead(200, { 'content-length': body.length });
      // What was not read yet when a reset comes is thrown away: the part has to arrive first.
      response.write(body.subarray(0, body.length / 2), () => socket?.resetAndDestroy());
    },
  }),
  'not-http': () => ({
    async wire({ response }) {
      response.socket?.end('SSH-2.0-OpenSSH\r\n');
    },
  }),
  'unknown-encoding': () => ({
    async wire(wire) {
      sendRaw(wire, { 'content-encoding': 'zstd', 'content-length': wire.body.length }, wire.body);
    },
  }),
} as const satisfies Readonly<Record<string, () => Fault>>;
