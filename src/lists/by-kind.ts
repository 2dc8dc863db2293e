import { sql, type SQL } from 'drizzle-orm';
import { kinds } from './index.ts';
import type { ListKind } from './list.ts';

/** As SQL: what each kind of list says of a feed, a row of `feeds`; null where its kind is none of them. */
export function byKind(part: (kind: ListKind) => SQL): SQL {
  const cases = Object.values(kinds).map((kind) => sql`when ${kind.name} then ${part(kind)}`);
  return sql`case feeds.kind ${sql.join(cases, sql` `)} end`;
}
