import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { format } from 'prettier';
import { parseDuration } from '../../src/time.ts';

/** A panel of a dashboard's file, as far as its statements go. */
export interface WrittenPanel {
  readonly title: string;
  readonly type: string;
  readonly targets: readonly { readonly rawSql: string; readonly format: string }[];
}

/** What a person has chosen above a dashboard. */
export interface View {
  readonly from: Date;
  readonly to: Date;
  readonly chains: readonly number[];
}

const dashboards = join(import.meta.dirname, '../../dashboards');

/** A dashboard as its file has it. */
export const dashboardText = (board: Dashboard): Promise<string> =>
  format(JSON.stringify(board), { parser: 'json', printWidth: 100 });

/** The file of a dashboard. */
export const readWritten = (name: string): Promise<string> =>
  readFile(join(dashboards, `grafana/${name}.json`), 'utf8');

/** Panels and statements of annotations of a dashboard, and how far back they look if no time is chosen, in ms. */
export async function panelsOf(name: string) {
  const { panels, time, annotations } = JSON.parse(await readWritten(name)) as {
    panels: WrittenPanel[];
    time: { from: string };
    annotations: { list: readonly { target: WrittenPanel['targets'][number] }[] };
  };
  const spanMs = parseDuration(time.from.replace(/^now-/u, ''));
  if (spanMs === null)
    throw new Error(`${name} begins at ${time.from}, which is no time before now`);
  return { panels, spanMs, marks: annotations.list.map(({ target }) => target.rawSql) };
}

/** A panel's statement as Grafana sends it: its macros and variables replaced. */
export function sent(sql: string, { from, to, chains }: View): string {
  const [first, last] = [`'${from.toISOString()}'`, `'${to.toISOString()}'`];
  return sql
    .replaceAll(/\$__timeFilter\(([\w.]+)\)/gu, `$1 BETWEEN ${first} AND ${last}`)
    .replaceAll('$__timeFrom()', first)
    .replaceAll('$__timeTo()', last)
    .replaceAll('$chain', chains.join(','));
}

/** What Superset's "Import dashboards" reads: the folder dashboards/superset in a zip. */
export const supersetZip = join(dashboards, 'superset.zip');

/** 1980-01-01 as a date of MS-DOS: the first that a zip can hold. */
const firstDay = 0x21;
const words = (...values: number[]) => Buffer.from(Uint16Array.from(values).buffer);
const longs = (...values: number[]) => Buffer.from(Uint32Array.from(values).buffer);

/** The zip's bytes, by PKWARE's APPNOTE 6.3.10. Uncompressed: no version of zlib changes them. */
export async function zipSuperset(): Promise<Buffer> {
  const names = await readdir(join(dashboards, 'superset'), { recursive: true });
  let [files, directory, count] = [Buffer.alloc(0), Buffer.alloc(0), 0];
  for (const file of names.filter((name) => name.endsWith('.yaml')).toSorted()) {
    const name = Buffer.from(`superset/${file}`);
    const content = await readFile(join(dashboards, 'superset', file));
    const sizes = longs(crc32(content), content.length, content.length);
    const facts = Buffer.concat([words(20, 0, 0, 0, firstDay), sizes, words(name.length, 0)]);
    const place = Buffer.concat([words(0, 0, 0), longs(0, files.length)]);
    directory = Buffer.concat([directory, Buffer.from('PK\x01\x02\x14\0'), facts, place, name]);
    files = Buffer.concat([files, Buffer.from('PK\x03\x04'), facts, name, content]);
    count += 1;
  }
  const end = [words(0, 0, count, count), longs(directory.length, files.length), words(0)];
  return Buffer.concat([files, directory, Buffer.from('PK\x05\x06'), ...end]);
}
