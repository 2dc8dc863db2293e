import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

/** What Superset's "Import dashboards" reads: the folder dashboards/superset in a zip. */
export const supersetZip = join(import.meta.dirname, '../../dashboards/superset.zip');
const folder = join(import.meta.dirname, '../../dashboards');

/** The zip's bytes: the same for the same files. */
export async function zipSuperset(): Promise<Buffer> {
  const found = await readdir(join(folder, 'superset'), { recursive: true });
  const names = found.filter((name) => name.endsWith('.yaml')).toSorted();
  const files = names.map(async (name) => {
    const path = `superset/${name}`;
    return { path, content: await readFile(join(folder, path)) };
  });
  return zip(await Promise.all(files));
}

/** 1980-01-01 as a date of MS-DOS: the first that a zip can hold. */
const firstDay = 0x21;

/** A zip of files as they are, by PKWARE's APPNOTE 6.3.10: uncompressed, so no version of zlib changes it. */
function zip(files: readonly { readonly path: string; readonly content: Buffer }[]): Buffer {
  const [locals, central] = [[] as Buffer[], [] as Buffer[]];
  let offset = 0;
  for (const { path, content } of files) {
    const name = Buffer.from(path);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0); // version needed to extract: 2.0
    facts.writeUInt16LE(firstDay, 8);
    facts.writeUInt32LE(crc32(content), 10);
    facts.writeUInt32LE(content.length, 14);
    facts.writeUInt32LE(content.length, 18);
    facts.writeUInt16LE(name.length, 22);
    locals.push(Buffer.from('PK\x03\x04'), facts, name, content);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    central.push(Buffer.from('PK\x01\x02\x14\x00'), facts, place, name);
    offset += 4 + facts.length + name.length + content.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(Buffer.concat(central).length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, ...central, Buffer.from('PK\x05\x06'), end]);
}
