import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { execute, type Transaction } from '../db/transaction.ts';
import { join, type Outline, outlineOf, type UnreadValue } from './fields.ts';

const driftShape = () =>
  z.object({
    kind: z.enum(['field', 'vanished', 'type', 'format', 'value']),
    /** Where in an item: `address.proxy_type`, `rewards[].type`. */
    path: z.string(),
    /** The new value or type, or what was expected of the format; empty for the other kinds. */
    detail: z.string(),
    count: z.number(),
  });
export type Drift = Readonly<z.infer<ReturnType<typeof driftShape>>>;

export interface DriftReport {
  readonly drift: readonly Drift[];
  /** Declared fields that are on every item, and those that are on none. */
  readonly everywhere: readonly string[];
  readonly nowhere: readonly string[];
}

/** Below so many items that a field is on none of them may be chance: most fields may be absent. */
const fewestItems = 10;

/** Most differences that one page reports; a service that changes all at once is reported as well. */
const mostDrift = 50;

/** Characters of a new value; the item itself keeps it whole. */
const longestDetail = 100;

/** How many objects stood in a place, and how many of them had each of its fields. */
interface Seen {
  objects: number;
  readonly present: number[];
}

export type DriftCounter = ReturnType<typeof openDriftCounter>;

/** Counts the fields of items that `schema` describes. */
export function openDriftCounter(schema: z.ZodType) {
  const seen = new Map<Outline, Seen>();
  const drift = new Map<string, Drift & { count: number }>();
  const note = (kind: Drift['kind'], path: string, whole: string): void => {
    const detail = cut(whole);
    const key = `${kind} ${path} ${detail}`;
    const known = drift.get(key);
    if (known !== undefined) known.count += 1;
    else if (drift.size < mostDrift) drift.set(key, { kind, path, detail, count: 1 });
  };
  return {
    note,
    seenOf(place: Outline): Seen {
      const known = seen.get(place);
      if (known !== undefined) return known;
      const none = { objects: 0, present: Array.from(place.fields ?? [], () => 0) };
      seen.set(place, none);
      return none;
    },
    /** A value that the item was read without. */
    noteUnread: ({ path, kind, detail }: UnreadValue) => note(kind, formatPath(path), detail),
    report(): DriftReport {
      const [everywhere, nowhere]: [string[], string[]] = [[], []];
      collect(outlineOf(schema), seen, everywhere, nowhere);
      return { drift: [...drift.values()], everywhere, nowhere };
    },
  };
}

function collect(
  place: Outline,
  seen: ReadonlyMap<Outline, Seen>,
  everywhere: string[],
  nowhere: string[],
): void {
  const { objects = 0, present } = seen.get(place) ?? {};
  for (const field of place.fields?.values() ?? []) {
    if (objects >= fewestItems && field.isGenerational !== true) {
      const count = present?.[field.index] ?? 0;
      if (count === objects) everywhere.push(field.path);
      else if (count === 0) nowhere.push(field.path);
    }
    collect(field, seen, everywhere, nowhere);
  }
  if (place.element !== null) collect(place.element, seen, everywhere, nowhere);
}

const formatPath = (path: readonly PropertyKey[]) =>
  path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[]` : join(text, String(step))),
    '',
  );

export const cut = (text: string) => text.slice(0, longestDetail).toWellFormed();

/** A way to differ from the specification that the feed had not shown before. */
const newDriftShape = () => driftShape().omit({ count: true }).extend({ page_id: z.number() });
export type NewDrift = Readonly<z.infer<ReturnType<typeof newDriftShape>>>;

/** Different entries of one feed; a service that invents names without end must not fill the disk. */
const mostEntries = 1_000;

interface CountedFeed {
  readonly chain_id: number;
  readonly operation: string;
  readonly feed: string;
}

/**
 * Counts how a transaction's pages differ from the specification and from earlier pages, and
 * returns what is new. A field has vanished if it was on every item of a page once (`alwaysPresent`) and
 * is on none of these. Runs after all other writes: it locks only a feed's own entries.
 */
export async function recordDrift(
  tx: Transaction,
  feed: CountedFeed,
  pages: readonly { readonly page_id: number; readonly driftReport: DriftReport }[],
  alwaysPresent: ReadonlySet<string>,
): Promise<readonly NewDrift[]> {
  const known = new Set(alwaysPresent);
  const entries: (NewDrift & { occurrences: number })[] = [];
  const newlyPresent: { path: string; page_id: number }[] = [];
  for (const { page_id, driftReport } of pages) {
    for (const { count, ...drift } of driftReport.drift) {
      entries.push({ ...drift, page_id, occurrences: count });
    }
    for (const path of driftReport.nowhere.filter((field) => known.has(field))) {
      entries.push({ kind: 'vanished', path, detail: '', page_id, occurrences: 1 });
    }
    for (const path of driftReport.everywhere.filter((field) => !known.has(field))) {
      known.add(path);
      newlyPresent.push({ path, page_id });
    }
  }
  if (newlyPresent.length > 0) await keepAlwaysPresent(tx, feed, newlyPresent);
  return entries.length === 0 ? [] : countDrift(tx, feed, entries);
}

async function keepAlwaysPresent(
  tx: Transaction,
  { chain_id, operation }: CountedFeed,
  fields: readonly { readonly path: string; readonly page_id: number }[],
): Promise<void> {
  await tx.execute(sql`
    insert into etl.always_present_fields (chain_id, operation, path, page_id)
    select ${chain_id}::bigint, ${operation}, path, page_id
    from json_to_recordset(${JSON.stringify(fields)}::json) as field(path text, page_id bigint)
    order by path
    on conflict do nothing
  `);
}

const countDrift = (
  tx: Transaction,
  { chain_id, operation, feed }: CountedFeed,
  entries: readonly NewDrift[],
) =>
  execute(tx).rows(newDriftShape)`
    with reported as (
      select kind, path, detail, sum(occurrences) as occurrences, min(page_id) as page_id
      from json_to_recordset(${JSON.stringify(entries)}::json)
        as entry(kind text, path text, detail text, occurrences bigint, page_id bigint)
      group by kind, path, detail
    ), known as (
      select kind, path, detail from reported
      join etl.drift as stored using (kind, path, detail)
      where stored.feed = ${feed}
    ), placed as (
      select reported.*, known.kind is not null as is_known,
             row_number() over (partition by known.kind is null order by path, detail) as place
      from reported left join known using (kind, path, detail)
    ), counted as (
      insert into etl.drift as t (
        chain_id, operation, path, kind, detail, occurrences, first_page_id
      )
      select ${chain_id}::bigint, ${operation}, path, kind, detail, occurrences, page_id
      from placed
      where is_known or place <= ${mostEntries} - (
        select count(*) from etl.drift as stored
        where stored.feed = ${feed}
      )
      order by path, kind, detail
      on conflict (chain_id, operation, path, kind, detail) do update
      set occurrences = t.occurrences + excluded.occurrences
      returning kind, path, detail, first_page_id
    )
    select kind, path, detail, first_page_id::float8 as page_id
    from counted join placed using (kind, path, detail)
    where not is_known and first_page_id = placed.page_id
  `;
