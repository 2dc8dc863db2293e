import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** What tells one file from another. */
export interface Digest {
  readonly bytes: number;
  readonly sha256: string;
}

/** Takes a file's bytes, in order. They are its own to keep once it resolves, and not before. */
export type Sink = (bytes: Uint8Array) => Promise<void>;

/** Hidden, and of an ending that no reader looks for. */
const unfinished = (file: string): string => join(dirname(file), `.${basename(file)}.unfinished`);

/**
 * Makes a file that is there whole or not at all: under another name until `write` is done with it and the disk
 * has it. Where `write` resolves to false nothing comes of it.
 */
export async function makeFile(
  path: string,
  write: (sink: Sink) => Promise<boolean>,
): Promise<Digest | null> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = unfinished(path);
  const file = await open(temporary, 'w');
  const hash = createHash('sha256');
  let bytes = 0;
  let isWanted = false;
  try {
    isWanted = await write(async (piece) => {
      hash.update(piece);
      bytes += piece.byteLength;
      for (let from = 0; from < piece.byteLength;) {
        from += (await file.write(piece, from)).bytesWritten;
      }
    });
    if (isWanted) await file.sync();
  } finally {
    await file.close();
    if (!isWanted) await rm(temporary, { force: true });
  }
  if (!isWanted) return null;
  await rename(temporary, path);
  return { bytes, sha256: hash.digest('hex') };
}

/** Digests a file that is there; null where it is not. */
export async function digestFile(path: string): Promise<Digest | null> {
  const hash = createHash('sha256');
  const file = createReadStream(path);
  try {
    await pipeline(file, hash);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return null;
    throw error;
  }
  return { bytes: file.bytesRead, sha256: hash.digest('hex') };
}
