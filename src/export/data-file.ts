import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Takes a file's bytes, in order. They are its own to keep once it resolves, and not before. */
export type Sink = (bytes: Uint8Array) => Promise<void>;

/**
 * Makes a file that is not there yet, and brings it to the disk.
 *
 * @returns its size in bytes
 */
export async function makeFile(
  path: string,
  write: (sink: Sink) => Promise<void>,
): Promise<number> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'wx');
  let bytes = 0;
  try {
    await write(async (piece) => {
      bytes += piece.byteLength;
      for (let from = 0; from < piece.byteLength;) {
        from += (await file.write(piece, from)).bytesWritten;
      }
    });
    await file.sync();
  } finally {
    await file.close();
  }
  return bytes;
}
