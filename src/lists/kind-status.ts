import { sql, type SQL } from 'drizzle-orm';
import type { KindStatus } from './list.ts';
import { newestFirstStatus } from './newest-first/status.ts';
import { numberedStatus } from './numbered/status.ts';
import type { ListKindName } from './operation.ts';
import { rankedStatus } from './ranked/status.ts';

export const kindStatus: Readonly<Record<ListKindName, KindStatus>> = {
  'newest-first': newestFirstStatus,
  numbered: numberedStatus,
  ranked: rankedStatus,
};

/** As SQL: a statement of each kind, one after the other; null: this kind has none. */
export const allKinds = (part: (kind: KindStatus) => SQL | null): SQL =>
  sql.join(
    Object.values(kindStatus).flatMap((kind) => part(kind) ?? []),
    sql` union all `,
  );

/** As SQL: what each kind says of a feed, a row of `feeds`; null if its kind is unknown. */
export function byKind(part: (kind: KindStatus) => SQL): SQL {
  const cases = Object.values(kindStatus).map((kind) => sql`when ${kind.name} then ${part(kind)}`);
  return sql`case feeds.kind ${sql.join(cases, sql` `)} end`;
}
