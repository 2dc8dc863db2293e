import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { byKind } from '../../lists/by-kind.ts';
import { mostWitnesses } from '../../lists/ribbon.ts';
import type { Lane } from '../../lists/tables.ts';
import type { Range } from './ribbon.ts';

/** The walks that a part of a list rests on. */
export interface Witnesses {
  readonly walks: number;
  /** There may be more: no more are looked at. */
  readonly isMore: boolean;
  readonly first: number;
  readonly last: number;
  readonly lanes: readonly Lane[];
  /** When the oldest and the newest of them began; ISO 8601. */
  readonly oldest: string;
  readonly newest: string;
}

/** As SQL: what the walks of a part come to, as JSON. */
const summed = (walks: SQL) => sql`(
  select case when count(*) filter (where is_there) > 0 then json_build_object(
    'walks', count(*) filter (where is_there),
    'isMore', count(*) = ${mostWitnesses}::bigint,
    'first', min(id) filter (where is_there),
    'last', max(id) filter (where is_there),
    'lanes', (array_agg(distinct lane) filter (where is_there)),
    'oldest', min(started_at) filter (where is_there),
    'newest', max(started_at) filter (where is_there)
  ) end
  from (${walks}) as looked_at
)`;

/**
 * The walks of each part, those that prove it and those under way in it; null: none is found. Of the walks those
 * are looked at that reach least far above the part's start.
 */
export async function witnessesOf(
  db: Database,
  places: readonly (Range & { readonly feed: string })[],
): Promise<readonly (Witnesses | null)[]> {
  const asked = places.map(({ feed, from, to }) => ({ feed, from, to }));
  const { rows } = await db.execute<{ witnesses: Witnesses | null }>(sql`
    select ${byKind(({ ribbon }) => (ribbon === null ? sql`null` : summed(ribbon.walks)))} as witnesses
    from rows from (
      jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as (feed text, "from" bigint, "to" bigint)
    ) with ordinality as asked(feed, "from", "to", place)
    join etl.feeds using (feed)
    order by asked.place
  `);
  return rows.map(({ witnesses }) => witnesses);
}
