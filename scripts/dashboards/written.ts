import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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

const folder = join(import.meta.dirname, '../../dashboards/grafana');

/** The file of a dashboard. */
export const readWritten = (name: string): Promise<string> =>
  readFile(join(folder, `${name}.json`), 'utf8');

/** The panels of a dashboard, and how far back they look if no other time is chosen, in ms. */
export async function panelsOf(
  name: string,
): Promise<{ readonly panels: readonly WrittenPanel[]; readonly spanMs: number }> {
  const { panels, time } = JSON.parse(await readWritten(name)) as {
    panels: WrittenPanel[];
    time: { from: string };
  };
  const spanMs = parseDuration(time.from.replace(/^now-/u, ''));
  if (spanMs === null)
    throw new Error(`${name} begins at ${time.from}, which is no time before now`);
  return { panels, spanMs };
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
