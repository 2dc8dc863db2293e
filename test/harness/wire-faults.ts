import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { brokenAnswers, type Wire, type WireFault } from '../../simulator/faults.ts';

const onWire = (wire: WireFault['wire']): WireFault => ({ wire });

type Headers = Readonly<Record<string, string | number>>;

/** Writes an answer by hand and ends the connection, which a server of Node would do better. */
function sendRaw({ response: { socket } }: Wire, headers: Headers, body: Buffer): void {
  const lines = Object.entries({ 'content-type': 'application/json', ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket?.write(`HTTP/1.1 200 OK\r\n${head}\r\n`);
  socket?.end(body);
}

/**
 * Sends part of a body as who cuts bodies does, in turn: a server that dies announced all of it, a
 * proxy announces what it has, and if nothing is announced the end of the connection is the end.
 */
function sendPart(wire: Wire, part: Buffer, whole: Buffer, headers: Headers): void {
  const length = [whole.length, part.length][wire.number % 3];
  const framing = length === undefined ? { connection: 'close' } : { 'content-length': length };
  sendRaw(wire, { ...headers, ...framing }, part);
}

/** A field with an escape and a character of two bytes, for a cut to fall into. */
const note = Buffer.from(String.raw`,"note":"caf\u00e9 is café"`);

/** Sends what is kept of a body with the note amid its items. */
const cut = (keep: (annotated: Buffer) => Buffer) =>
  onWire((wire) => {
    const { body } = wire;
    const middle = Math.max(0, body.indexOf(',"', body.length / 2));
    const whole = Buffer.concat([body.subarray(0, middle), note, body.subarray(middle)]);
    sendPart(wire, keep(whole), whole, {});
  });

/** Cuts `bytes` after where `mark` begins. */
const cutBehind = (mark: string, bytes: number) =>
  cut((annotated) => annotated.subarray(0, annotated.indexOf(mark) + bytes));

/** Behind the brace that ends the last item but one; of a page without items, behind its own. */
function endOfItem(annotated: Buffer): number {
  const border = annotated.lastIndexOf('},{');
  return border === -1 ? annotated.lastIndexOf('}') + 1 : border + 1;
}

/** So few that no length gives them away. */
const pieceBytes = 7;

/** Announces a length that is off by so many bytes. */
const misannounced = (bytes: number) =>
  onWire((wire) => sendRaw(wire, { 'content-length': wire.body.length + bytes }, wire.body));

const mebibyte = Buffer.alloc(1024 * 1024, 'x');
/** Unpacked, the bomb has 256 MiB, from 270 KB: a factor of a thousand is all that gzip gives. */
const bombMebibytes = 256;
/** What the large body has, and the endless headers before they end. */
const largeMebibytes = 100;

/** JSON of so many mebibytes. */
const largeBody = (mebibytes: number): Buffer[] => [
  Buffer.from('{"items":[],"note":"'),
  ...Array.from({ length: mebibytes }, () => mebibyte),
  Buffer.from('"}'),
];

/** Members of gzip one after the other are one body. */
function makeBomb(): Buffer {
  const filling = gzipSync(mebibyte);
  const parts = largeBody(bombMebibytes);
  return Buffer.concat(parts.map((part) => (part === mebibyte ? filling : gzipSync(part))));
}

let bomb: Buffer | null = null;

/** Lines of a head that does not end. */
function* headLines(count: number, value: string): Generator<string> {
  yield 'HTTP/1.1 200 OK\r\n';
  for (let line = 1; line <= count; line += 1) yield `x-line-${line}: ${value}\r\n`;
}

/** Sends a piece a second, until the client leaves. */
async function drip({ response, signal }: Wire, pieces: Iterable<string | Uint8Array>) {
  const { socket } = response;
  for (const piece of pieces) {
    if (socket === null || socket.destroyed) return;
    socket.write(piece);
    await delay(1000, undefined, { signal });
  }
}

/** Sends to another host, key and all. */
export const redirect = (origin: string) =>
  onWire(({ response }) => {
    response.writeHead(302, { location: `${origin}${response.req.url ?? '/'}` }).end();
  });

/** True answers that go wrong on their way, and connections that end. */
export const wireFaults = {
  // Bodies that end where they should not, and lengths that are not their own.
  'cut-in-envelope': cutBehind('{"items"', '{"ite'.length),
  'cut-at-last-byte': cut((annotated) => annotated.subarray(0, -1)),
  'cut-in-item': cutBehind(',"note"', 1),
  'cut-in-string': cutBehind('caf', 2),
  'cut-in-escape': cutBehind(String.raw`\u00e9`, 4),
  'cut-in-character': cutBehind('é', 1),
  // From its outside it looks whole.
  'cut-after-item': cut((annotated) => annotated.subarray(0, endOfItem(annotated))),
  'piece-missing': cut((annotated) => {
    const end = endOfItem(annotated);
    return Buffer.concat([annotated.subarray(0, end - pieceBytes), annotated.subarray(end)]);
  }),
  'cut-in-gzip': onWire((wire) => {
    const whole = gzipSync(wire.body);
    sendPart(wire, whole.subarray(0, whole.length / 2), whole, { 'content-encoding': 'gzip' });
  }),
  'length-too-long': misannounced(10),
  'length-too-short': misannounced(-10),
  // Unreasonable sizes and speeds.
  'gzip-bomb': onWire(({ response }) => {
    bomb ??= makeBomb();
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length });
    response.end(bomb);
  }),
  'body-of-100-mb': onWire(async ({ response, signal }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    await pipeline(Readable.from(largeBody(largeMebibytes)), response, { signal });
  }),
  'byte-a-second': onWire((wire) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${wire.body.length}\r\n\r\n`;
    return drip(wire, [head, ...Array.from(wire.body, (byte) => Uint8Array.of(byte))]);
  }),
  // Ends when the client leaves, or after as much as the large body has.
  'endless-headers': onWire(async ({ response: { socket }, signal }) => {
    const lines = headLines(largeMebibytes * 1024, 'x'.repeat(1000));
    if (socket !== null) await pipeline(Readable.from(lines), socket, { signal });
  }),
  // More lines than anyone waits for.
  'slow-headers': onWire((wire) => drip(wire, headLines(600, 'slow'))),
  'no-answer': brokenAnswers['no-answer'],
  redirect: redirect('http://elsewhere.invalid'),
  'closed-without-answer': onWire(({ response }) => void response.socket?.end()),
  reset: brokenAnswers.reset,
  'reset-in-body': onWire(({ response, body }) => {
    const { socket } = response;
    response.writeHead(200, { 'content-length': body.length });
    // What was not read yet when a reset comes is thrown away: the part has to arrive first.
    response.write(body.subarray(0, body.length / 2), () => socket?.resetAndDestroy());
  }),
  'not-http': onWire(({ response }) => void response.socket?.end('SSH-2.0-OpenSSH\r\n')),
  'unknown-encoding': onWire((wire) =>
    sendRaw(wire, { 'content-encoding': 'zstd', 'content-length': wire.body.length }, wire.body),
  ),
} as const;
