import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { StatusDocument } from '../documents/status.ts';
import { driftNotes } from '../drift/record.ts';
import type { LateItem, Needs, Newest, ReplacedBlock, WaitingItem } from '../page/needs-you.ts';
import { createRedactor } from '../redact.ts';
import { adviceOf } from '../words/status-advice.ts';

/** What needs nobody is told for so long: then it is history. */
const days = 7;
/** Of each thing so many are shown, the newest; a command lists the others. */
const mostShown = 3;
/** Counted so far: who has more wants a list, not a number. */
const mostCounted = 1_000;
/** Characters of a quarantined item: most are shorter. */
const longestRaw = 2_000;

/** What somebody should look at, from what is stored. */
export async function readNeeds(db: Database, status: StatusDocument): Promise<Needs> {
  const drifting = status.feeds.filter(({ drift }) => drift > 0).map(({ feed }) => feed);
  return {
    feeds: status.feeds.length,
    advice: adviceOf(withoutOwnLists(status)),
    quarantine: await quarantineOf(db, status),
    drift: drifting.length === 0 ? [] : await driftOf(db, drifting),
    days,
    reorgs: await newestOf<ReplacedBlock>(db, {
      within: sql`explorer.block_reorgs where observed_at > ${since}`,
      newest: sql`
        select json_build_object(
          'chain_id', chain_id, 'height', height, 'old_hash', old_hash, 'new_hash', new_hash,
          'observed_at', observed_at
        ) as thing
        from explorer.block_reorgs
        where observed_at > ${since}
        order by observed_at desc`,
    }),
    late: await newestOf<LateItem>(db, {
      within: sql`etl.late_arrivals where seen_at > ${since}`,
      newest: sql`
        select json_build_object(
          'feed', feed, 'key', key, 'seen_at', seen_at,
          'late_s', greatest(0, extract(epoch from seen_at - timestamp))
        ) as thing
        from etl.late_arrivals
        where seen_at > ${since}
        order by seen_at desc`,
    }),
  };
}

const since = sql`now() - make_interval(days => ${days})`;

/** Quarantine has a place of its own, and what goes well needs nobody. */
const withoutOwnLists = (status: StatusDocument): StatusDocument => ({
  ...status,
  verdict: {
    ...status.verdict,
    reasons: status.verdict.reasons.filter(
      ({ kind }) => kind !== 'quarantine' && kind !== 'reading',
    ),
  },
});

async function newestOf<Thing>(
  db: Database,
  { within, newest }: { readonly within: SQL; readonly newest: SQL },
): Promise<Newest<Thing>> {
  const { rows } = await db.execute<{ thing: Thing }>(sql`${newest} limit ${mostShown}`);
  const things = rows.map(({ thing }) => thing);
  if (things.length < mostShown) return { count: things.length, isAtLeast: false, newest: things };
  const counted = await db.execute<{ count: number }>(sql`
    select count(*)::int as count
    from (select from ${within} limit ${mostCounted + 1}) as counted
  `);
  const count = counted.rows[0]?.count ?? things.length;
  return {
    count: Math.min(count, mostCounted),
    isAtLeast: count > mostCounted,
    newest: things,
  };
}

/** An item may repeat the address that it was asked for with. */
const redact = createRedactor([]);

async function quarantineOf(db: Database, status: StatusDocument): Promise<Newest<WaitingItem>> {
  const count = status.feeds.reduce((sum, { quarantined }) => sum + quarantined, 0);
  if (count === 0) return { count, isAtLeast: false, newest: [] };
  const { rows } = await db.execute<{ item: WaitingItem }>(sql`
    select json_build_object(
      'id', id, 'feed', feed, 'reason', left(reason, ${longestRaw}),
      'page_id', coalesce(last_page_id, page_id), 'first_seen_at', first_seen_at,
      'raw', left(pretty, ${longestRaw}), 'raw_length', length(pretty)
    ) as item
    from (
      select * from etl.quarantine where dropped_at is null order by id desc limit ${mostShown}
    ) as waiting
    cross join lateral (select jsonb_pretty(raw) as pretty) as spelled
    order by id desc
  `);
  return {
    count,
    isAtLeast: false,
    newest: rows.map(({ item }) => ({
      ...item,
      reason: redact(item.reason),
      raw: redact(item.raw),
      // A mask is as long as it is: what is left out is counted from the text as it was read.
      raw_length: item.raw_length - item.raw.length + redact(item.raw).length,
    })),
  };
}

async function driftOf(db: Database, feeds: readonly string[]): Promise<Needs['drift']> {
  const { rows } = await db.execute<{
    feed: string;
    notes: readonly { readonly detail: string; readonly items: readonly string[] }[] | null;
  }>(sql`
    select feed, (${driftNotes}) as notes
    from etl.feeds
    where feed = any(${sql.param(feeds)}::text[])
    order by chain_id, operation
  `);
  return rows.flatMap(({ feed, notes }) =>
    notes === null
      ? []
      : [{ feed, notes: notes.map(({ detail, items }) => `${detail}: ${items.join(', ')}`) }],
  );
}
