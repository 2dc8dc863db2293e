import { types, type Pool } from 'pg';
import { plainText } from '../query/value.ts';
import { readAsOf, type Moment } from './as-of.ts';
import { collect } from './collect.ts';
import {
  bindTo,
  choose,
  dayOfRow,
  where,
  quote,
  type Choice,
  type Partition,
} from './partition.ts';
import type { Relation } from './relation.ts';

/** A partition that has rows. */
export interface Counted extends Partition {
  readonly rows: number;
  /** When the newest of the rows changed that did so since the time that was asked about; null: none did. */
  readonly changedAt: string | null;
}

/** What partitions there are, all seen at once. */
export interface Census extends Moment {
  readonly partitions: readonly Counted[];
}

/**
 * Counts the rows of each chosen partition, by the index of its time, and finds which of them changed since a
 * time, by the index of that.
 *
 * @param since null: nobody wants to know what changed
 */
export async function takeCensus(
  pool: Pool,
  relation: Relation,
  choice: Choice,
  since: string | null,
  signal: AbortSignal,
): Promise<Census> {
  // Before the rows: what is seen then is seen by the statement.
  const moment = await readAsOf(pool, signal);
  const values: string[] = [];
  const place = `chain_id, ${relation.layout === 'day' ? dayOfRow : 'null::date'} as day`;
  const source = `from explorer.${quote(relation.name)}`;
  const conditions = choose(relation, choice, values);
  const changes =
    since === null || !relation.isDated
      ? ''
      : `union all
         select chain_id, day, null, max(updated_at)
         from (
           select ${place}, updated_at ${source}
           ${where([...conditions, `updated_at >= ${bindTo(values, since)}::timestamptz`])}
         ) as changed
         group by chain_id, day`;
  const text = `
    select chain_id, day, sum(rows), max(changed_at)
    from (
      select chain_id, day, count(*) as rows, null::timestamptz as changed_at
      from (select ${place} ${source} ${where(conditions)}) as chosen
      group by chain_id, day
      ${changes}
    ) as told
    group by chain_id, day
    order by chain_id, day nulls last`;
  const rows = await collect(pool, { text, values }, signal);
  const partitions = rows.map(([chain = null, day = null, count, changedAt]) => ({
    chain_id: chain,
    day,
    rows: Number(count),
    changedAt:
      typeof changedAt === 'string' ? plainText(changedAt, types.builtins.TIMESTAMPTZ) : null,
  }));
  return { ...moment, partitions };
}
