import { sql, type SQL } from 'drizzle-orm';
import { kinds } from '../lists/index.ts';
import type { ListKind } from '../lists/list.ts';
import type { FeedSettings } from '../lists/settings.ts';
import type { TickScope } from '../lists/tables.ts';

/** As SQL: what each kind of list says of a feed, a row of `feeds`; null where its kind is none of them. */
export function byKind(part: (kind: ListKind<FeedSettings, TickScope>) => SQL): SQL {
  const cases = Object.values(kinds).map((kind) => sql`when ${kind.name} then ${part(kind)}`);
  return sql`case feeds.kind ${sql.join(cases, sql` `)} end`;
}

/**
 * Whether anything proves a feed, a row of `feeds`; as SQL. False where no kind is about it: absence of
 * evidence is open.
 */
export const isProved = sql`coalesce(${byKind(({ proof }) => proof.shows)}, false)`;

/** What is to be said of a feed that nothing proves, a row of `feeds`; as SQL. */
export const unproved = sql`'nothing proves it' || coalesce(
  ': ' || ${byKind(({ proof }) => sql`${proof.lacks}::text`)},
  ''
)`;
