import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Fault, Wire } from '../fault.ts';

/** A field with an escape and a character of two bytes, for a cut to fall into. */
const note = Buffer.from(String.raw`,"note":"caf\u00e9 is café"`);

/** The body with the note amid its items. */
function annotate(body: Buffer): Buffer {
  const middle = Math.max(0, body.indexOf(',"', body.length / 2));
  return Buffer.concat([body.subarray(0, middle), note, body.subarray(middle)]);
}

/** What is left of an annotated body, `bytes` after where `mark` begins. */
function keepTo(mark: string, bytes: number): (annotated: Buffer) => Buffer {
  return (annotated) => annotated.subarray(0, annotated.indexOf(mark) + bytes);
}

/** Behind the brace that ends the last item but one; of a page without items, behind its own. */
function endOfItem(annotated: Buffer): number {
  const border = annotated.lastIndexOf('},{');
  return border === -1 ? annotated.lastIndexOf('}') + 1 : border + 1;
}

/** So few that no length gives them away. */
const pieceBytes = 7;

const headOf = (headers: Readonly<Record<string, string | number>>) => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${lines.join('')}\r\n`;
};

/** Writes an answer by hand and ends the connection, which a server of Node would do better. */
export function sendRaw(
  { response }: Pick<Wire, 'response'>,
  headers: Readonly<Record<string, string | number>>,
  body: Buffer,
): void {
  const socket: Socket | null = response.socket;
  socket?.write(headOf(headers));
  socket?.end(body);
}

/**
 * Sends part of a body as who cuts bodies does, in turn: a server that dies announced all of it, a
 * proxy announces what it has, and where nothing is announced the end of the connection is the end.
 */
function sendPart(wire: Wire, part: Buffer, whole: Buffer, headers: Record<string, string>): void {
  const lengths = [whole.length, part.length, null] as const;
  const length = lengths[wire.number % lengths.length] ?? null;
  const framing = length === null ? { connection: 'close' } : { 'content-length': length };
  sendRaw(wire, { ...headers, ...framing }, part);
}

const cut = (keep: (annotated: Buffer) => Buffer) => (): Fault => ({
  async wire(wire) {
    const whole = annotate(wire.body);
    sendPart(wire, keep(whole), whole, {});
  },
});

/** Bytes that an announced length is off by. */
const offBytes = 10;

const misannounced = (bytes: number) => (): Fault => ({
  async wire(wire) {
    sendRaw(wire, { 'content-length': wire.body.length + bytes }, wire.body);
  },
});

/** A body that ends where it should not, by what is cut; and lengths that are not its own. */
export const cutFaults = {
  'cut-in-envelope': cut(keepTo('{"items"', '{"ite'.length)),
  'cut-at-last-byte': cut((annotated) => annotated.subarray(0, -1)),
  'cut-in-item': cut(keepTo(',"note"', 1)),
  'cut-in-string': cut(keepTo('caf', 2)),
  'cut-in-escape': cut(keepTo(String.raw`\u00e9`, 4)),
  'cut-in-character': cut(keepTo('é', 1)),
  // From its outside it looks whole.
  'cut-after-item': cut((annotated) => annotated.subarray(0, endOfItem(annotated))),
  'piece-missing': cut((annotated) => {
    const from = endOfItem(annotated) - pieceBytes;
    return Buffer.concat([annotated.subarray(0, from), annotated.subarray(from + pieceBytes)]);
  }),
  'cut-in-gzip': () => ({
    async wire(wire) {
      const whole = gzipSync(wire.body);
      sendPart(wire, whole.subarray(0, whole.length / 2), whole, { 'content-encoding': 'gzip' });
    },
  }),
  'length-too-long': misannounced(offBytes),
  'length-too-short': misannounced(-offBytes),
} as const satisfies Readonly<Record<string, () => Fault>>;
