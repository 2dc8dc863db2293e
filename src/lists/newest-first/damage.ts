import { sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { tableName } from '../../db/digest.ts';
import type { Transaction } from '../../db/transaction.ts';
import { operationNames, operations, type OperationName } from '../../operations/index.ts';
import { places } from '../damaged-places.ts';

/** No list tells a higher one; what somebody wrote into a row may be anything. */
const highestBlock = Number.MAX_SAFE_INTEGER;

/** The blocks that brought damaged rows. A page without a block number may stand anywhere in the list. */
export async function rereadItems(tx: Transaction): Promise<readonly PgTable[]> {
  const lists = operationNames.filter((name) => operations[name].kind === 'newest-first');
  await tx.execute(sql`
    with ${places}, stretch as (
      select chain_id, operation,
             case when top is null or bottom is null then int8range(0, highest, '[]')
                  else int8range(bottom, top, '[]') end as blocks
      from page
      left join lateral (
        select max(walks.top) as highest
        from etl.walks
        where walks.feed = page.feed
      ) as list on true
      where operation = any(${sql.param(lists)}::text[]) and coalesce(top, highest) is not null
      union all
      ${sql.join(lists.flatMap(damageOf), sql` union all `)}
    )
    insert into etl.rereads as t (chain_id, operation, after_walk, blocks)
    select chain_id, operation, (select coalesce(max(id), 0) from etl.walks), range_agg(blocks)
    from stretch
    group by chain_id, operation
    on conflict (feed, after_walk) do update set blocks = t.blocks + excluded.blocks
  `);
  return [];
}

/** Where damaged rows of a list stand, and the newest of its items that names an address that was damaged. */
function damageOf(name: OperationName): SQL[] {
  const { table, children, order, addressColumns } = operations[name];
  if (order === null) return [];
  const own = sql.raw(tableName(table));
  const height = sql.raw(`"${order.columns.height}"`);
  const told = sql`coalesce(row ->> ${order.columns.height}, key ->> ${order.columns.height})::bigint`;
  const tables = [table, ...children.map((child) => child.table)].map(tableName);
  return [
    sql`
      select chain_id, ${name}::text, int8range(${told}, ${told}, '[]')
      from found
      where table_name = any(${sql.param(tables)}::text[])
        and ${told} between 0 and ${highestBlock}::bigint`,
    ...addressColumns.map(
      (column) => sql`
      select lost.chain_id, ${name}::text, int8range(max(${height}), max(${height}), '[]')
      from lost
      join ${own} as t on t.chain_id = lost.chain_id and t.${sql.raw(`"${column}"`)} = lost.hash
      where ${height} is not null
      group by lost.chain_id, lost.hash`,
    ),
  ];
}
