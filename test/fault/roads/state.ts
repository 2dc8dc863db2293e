import type { Pool } from 'pg';
import { inWords } from '../../harness/ledger.ts';
import type { Copier } from '../stories/program.ts';

/** What is stored or concluded, by what it is; each part in an order of its own. */
export type State = Readonly<Record<string, readonly string[]>>;

/** Columns that say when something was, and numbers that are drawn. */
const drawn = [
  'id page_id walk_id run_id first_page_id last_page_id revision first_seen_at last_seen_at',
  'updated_at observed_at walked_at seen_at started_at finished_at verified_at last_page_at',
  'fetched_at published_at as_of latency_ms archived_bytes',
].flatMap((names) => names.split(' '));

/** When something left: of these times only whether they are known. */
const marks = ['removed_at', 'missing_since', 'dropped_at'];

const list = (names: readonly string[]) => `array[${names.map((name) => `'${name}'`).join()}]`;

/** What follows from the same pages by any road. */
const conclusions = {
  coverage: 'etl.coverage',
  batches: 'etl.batch_coverage',
  quarantine: 'etl.quarantine',
  'late items': 'etl.late_arrivals',
  'ends of batches': 'etl.batch_observations',
  rankings: 'etl.rankings',
  drift: 'etl.drift',
  gaps: 'explorer.gaps',
} as const;

/** The parts of a state that a road may leave out. */
export type Part = keyof typeof conclusions | 'removals' | 'walks' | 'pages';

/** What a lane's requests came to, which commits and prunes count in their own ways. */
const spent = ['pages', 'inserted', 'credits', 'spanned_items', 'spanned_blocks'];

/** Which page of walks side by side inserts a row that both have depends on their speed; the sum does not. */
const raced = ['inserted'];

/** How many rows the walks of each feed inserted. */
async function insertedOf(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ sum: string }>(`
    select feed || ': ' || sum(inserted) || ' rows inserted' as sum from etl.walks
    group by feed order by feed`);
  return rows.map(({ sum }) => sum);
}

/** All rows of schema `explorer`, what is concluded from pages, the ledger, and what `verify` says. */
export async function stateOf({ pool, verify }: Copier): Promise<State> {
  const state: Record<string, readonly string[]> = {};
  const { rows: tables } = await pool.query<{ name: string }>(`
    select relname as name from pg_class
    where relnamespace = 'explorer'::regnamespace and relkind = 'r' order by relname`);
  const names = tables.map(({ name }) => `explorer.${name}`);
  for (const name of names) state[name] = await textsOf(pool, name);
  const left = `jsonb_strip_nulls(to_jsonb(t)) ?| ${list(marks)}`;
  const removals = await Promise.all(names.map((name) => textsOf(pool, name, [], left)));
  state['removals'] = removals.flat();
  for (const [part, relation] of Object.entries(conclusions)) {
    state[part] = await textsOf(pool, relation, spent);
  }
  for (const part of ['walks', 'pages']) state[part] = await textsOf(pool, `etl.${part}`, raced);
  state['walks'] = [...(state['walks'] ?? []), ...(await insertedOf(pool))];
  const reports = (await verify()).map(inWords);
  state['covered'] = reports.flatMap(({ feed, covered }) =>
    covered.map(({ from, to }) => `${feed}: ${from} to ${to}`),
  );
  state['findings'] = reports.flatMap(({ feed, open, head, notes }) =>
    [...open, ...head, ...notes].map((what) => `${feed}: ${what}`),
  );
  return state;
}

async function textsOf(
  pool: Pool,
  relation: string,
  without: readonly string[] = [],
  where = 'true',
): Promise<string[]> {
  const columns = `to_jsonb(t) - ${list([...drawn, ...marks, ...without])}`;
  const { rows } = await pool.query<{ row: string }>(
    `select (${columns})::text as row from ${relation} as t where ${where} order by 1`,
  );
  return rows.map(({ row }) => row);
}

/** How many differing texts are shown of a part. */
const shown = 4;

/** Whether two states have the same of a part. */
export const sameIn = (part: Part, one: State, other: State): boolean =>
  one[part]?.join() === other[part]?.join();

/** A row without the block that it has, if its newest page has it out of order: only an earlier page showed that block. */
export const withoutLateBlocks = (text: string): string =>
  text.includes('(out of order)') ? text.replace(/"block_number": (?:\d+|null), /u, '') : text;

/** Where two states differ, in words. */
export function differencesOf(
  one: State,
  other: State,
  { without, seen }: { readonly without: readonly Part[]; readonly seen: (text: string) => string },
): string[] {
  const isLeftOut = (part: string) => without.some((name) => name === part);
  return Object.keys(one).flatMap((part) => {
    const [a = [], b = []] = [one, other].map((state) => state[part]?.map(seen));
    const [inA, inB] = [new Set(a), new Set(b)];
    const lost = a.filter((text) => !inB.has(text));
    const added = b.filter((text) => !inA.has(text));
    if (isLeftOut(part) || (lost.length + added.length === 0 && a.length === b.length)) return [];
    return [
      `${part}, ${a.length} and ${b.length}`,
      ...lost.slice(0, shown).map((text) => `  only on the plain road: ${text}`),
      ...added.slice(0, shown).map((text) => `  only on this one: ${text}`),
    ];
  });
}
