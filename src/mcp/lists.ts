import { getTableName } from 'drizzle-orm';
import type { Pool } from 'pg';
import { z } from 'zod';
import { operationNames, operations } from '../lists/registry.ts';
import { StatementTimeoutError } from '../query/failure.ts';
import { readWhole, type Bounds } from '../query/read.ts';

type Limits = Omit<Bounds, 'limit'>;
/** Ranges and findings shown of a list. */
const most = 5;

/**
 * Texts of views, functions and what sums up, those of users too; a table of a user may have rows of any list. A view
 * about feeds is not followed: others name it for caveats.
 */
export const definitions = `
  select name, string_agg(text, ' ')
  from pg_namespace, lateral (
    select relname, pg_get_viewdef(pg_class.oid) from pg_class
    where relnamespace = pg_namespace.oid and relkind = 'v'
      and not exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'feed')
    union all
    select relname, (
      select string_agg(listed.relname, ' ') from pg_class as listed
      where relnamespace = 'explorer'::regnamespace and relkind = 'r'
    )
    from pg_class
    where relnamespace = pg_namespace.oid and relkind in ('r', 'p', 'm', 'f')
      and nspname not in ('explorer', 'etl', 'pgboss')
    union all
    select unnest(proname || array(select (regexp_matches(prosrc, 'insert into etl\\.(\\w+)', 'g'))[1]::name)),
           coalesce(pg_get_function_sqlbody(oid), prosrc)
    from pg_proc where pronamespace = pg_namespace.oid
  ) as defined (name, text)
  where nspname <> 'information_schema' and not starts_with(nspname, 'pg_')
  group by name`;

const namesIn = (text: string) => text.toLowerCase().match(/\w+/gu) ?? [];

/** The lists whose rows a statement reads; all of them if it names none, as one of addresses does. */
export function listsOf(text: string, defined: ReadonlyMap<string, string>): readonly string[] {
  const named = new Set(namesIn(text));
  // The set grows while it is iterated.
  for (const name of named) for (const one of namesIn(defined.get(name) ?? '')) named.add(one);
  const found = operationNames.filter((name) =>
    operations[name].tables.some((table) => named.has(getTableName(table))),
  );
  return found.length === 0 ? operationNames : found;
}

/** Findings are null if they take longer than a statement may. */
const listState = z.looseObject({ feed: z.string(), open_findings: z.int().nullable() });

/** What is complete of these lists, as of when, and what is found in them. */
export async function readLists(
  pool: Pool,
  lists: readonly string[],
  chain: number | undefined,
  limits: Limits,
) {
  const values = [`{${lists.join()}}`, chain?.toString() ?? null];
  const states = await readPairs(pool, coverage, values, limits);
  const found = await readPairs(pool, findings, values, limits).catch((error: unknown) => {
    if (error instanceof StatementTimeoutError) return null;
    throw error;
  });
  const none = `{"open_findings":${found === null ? 'null' : '0'}}`;
  return [...states].map(([feed, state]) =>
    listState.parse({ feed, ...JSON.parse(state), ...JSON.parse(found?.get(feed) ?? none) }),
  );
}

/** What to say beside the numbers of an answer; null: nothing is open. */
export function cautionOf(lists: readonly z.infer<typeof listState>[]): string | null {
  if (lists.length === 0) return 'No list that this reads is mirrored here.';
  const open = lists.filter(({ open_findings: count }) => count !== 0);
  const feeds = open.map(({ feed, open_findings: count }) => `${feed} (${count ?? 'unknown'})`);
  const what = `Not verified complete, so numbers may be too low. Open findings: ${feeds.join(', ')}.`;
  return open.length === 0 ? null : what;
}

const coverage = `
  select feed, jsonb_build_object('newest_item_at', newest_at, 'polled_at', looked_at, 'complete', (
    select coalesce((jsonb_agg(part order by "to" desc)), '[]') from (
      select from_block as "from", to_block as "to", unit, from_at, to_at, as_of from explorer.coverage
      where coverage.feed = list.feed order by to_block desc limit ${most}
    ) as part
  ))
  from explorer.freshness as list
  where operation = any($1) and chain_id = coalesce($2::bigint, chain_id)
  order by feed`;
const findings = `
  select feed, jsonb_build_object('open_findings', count(*) filter (where is_open), 'findings', (array_agg(
    jsonb_build_object('is_open', is_open, 'kind', kind, 'place', place, 'sentence', sentence, 'count', count)
    order by is_open desc
  ))[:${most}])
  from explorer.findings
  where operation = any($1) and chain_id = coalesce($2::bigint, chain_id)
  group by feed`;

/** Reads two columns of text. */
export async function readPairs(
  pool: Pool,
  text: string,
  values: (string | null)[],
  limits: Limits,
) {
  const { rows } = await readWhole(pool, { text, values }, { ...limits, limit: null });
  return new Map(rows.map(([name, value]) => [name ?? '', value ?? '']));
}
