import { promisify } from 'node:util';
import { brotliDecompress, inflateRaw, unzip } from 'node:zlib';

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
export async function inflate(
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
