import type { Pool } from 'pg';
import { z } from 'zod';
import { counted } from '../terminal/numbers.ts';
import { clock } from '../time.ts';
import { readWhole, type Bounds } from './read.ts';

/** The state of the sums that a statement reads; null: it reads none. */
export const sumsDocument = z
  .strictObject({
    /** What was stored before it is in them, but for `stale`; null: nothing was summed up yet. */
    up_to: z.iso.datetime({ offset: true }).nullable(),
    /** How many of them are due; null: not known, because pages were stored later. */
    stale: z.int().min(0).nullable(),
    sentence: z.string(),
  })
  .nullable();
export type Sums = z.infer<typeof sumsDocument>;

const qualified = /\bexplorer"?\s*\.\s*"?(\w+)/giu;
/** What follows a `from` up to the next clause. */
const list =
  /(?<!\bdistinct\s+)\bfrom\b(.*?)(?=\b(?:from|where|group|having|window|order|limit|offset|fetch|for|union|intersect|except)\b|$)/gisu;

/** The relations that a statement names: qualified ones, and those after `from`, `join` and commas. */
function relationsIn(text: string): Set<string> {
  // A text in parentheses is a part of its own: its commas divide no list around it.
  const parts = [''];
  const open = [0];
  for (const token of text.split(/([()])/u)) {
    const at = open.at(-1) ?? 0;
    if (token === ')') open.pop();
    else parts[at] += token === '(' ? ' 0 ' : token;
    if (token === '(') open.push(parts.push('') - 1);
  }
  const lists = parts.flatMap((part) => [...part.matchAll(list)].map(([, names = '']) => names));
  const listed = lists.flatMap((names) => names.split(/,|\bjoin\b/iu));
  const first = listed.map((one) => /^\s*(?:only\s+)?"?(\w+)/iu.exec(one)?.[1] ?? '');
  const named = [...text.matchAll(qualified)].map(([, name = '']) => name);
  return new Set([...first, ...named].map((name) => name.toLowerCase()).filter(Boolean));
}

/** Reads how current the sums are that a statement names; the statement's own failure says more than one of this. */
export async function readSums(
  pool: Pool,
  text: string,
  bounds: Omit<Bounds, 'limit'>,
): Promise<Sums> {
  const names = [...relationsIn(text)];
  if (names.length === 0) return null;
  const statement = { text: stateOfSums, values: [`{${names.join()}}`] };
  const state = await readWhole(pool, statement, { ...bounds, limit: null }).catch(() => null);
  const [upTo = null, stale = null, at = null] = state?.rows[0] ?? [];
  if (at === null) return null;
  const known = { up_to: upTo, stale: stale === null ? null : Number(stale) };
  return { ...known, sentence: sentenceOf(known, new Date(at)) };
}

const stateOfSums = `
  select case when bool_and(up_to is not null) then to_char(min(up_to), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end,
         case when bool_and(stale is not null) then sum(stale) end,
         to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  from explorer.refreshed
  where name = any($1::text[])
  having count(*) > 0`;

function sentenceOf({ up_to: upTo, stale }: Omit<NonNullable<Sums>, 'sentence'>, at: Date): string {
  if (upTo === null) return 'there are no sums yet: start and sync make them';
  const sums = `sums up to ${clock(upTo, at)}`;
  if (stale === null) return `${sums}, without the pages that were stored since`;
  return stale === 0
    ? sums
    : `${sums}, ${counted(stale, 'day, sender or batch', 'days, senders or batches')} still due`;
}
