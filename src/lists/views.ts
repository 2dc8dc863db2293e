import { tableName } from '../db/column-types.ts';
import type { Operation } from './operation.ts';
import { operationNames, operations } from './registry.ts';

/**
 * What files of sql/ read of any list: the statements that name the tables of lists, made from the declarations.
 * `migrate` runs each text like a file of sql/.
 */
export const listViews = (): readonly string[] => [listView(), batchViews(), items(), triggers()];

function ofKind<Kind extends Operation['kind']>(kind: Kind) {
  const isOfKind = (one: Operation): one is Extract<Operation, { kind: Kind }> => one.kind === kind;
  return operationNames.map((name) => operations[name]).filter(isOfKind);
}

function listView(): string {
  const rows = Object.values(operations).map((list) => {
    const history = list.kind === 'ranked' ? tableName(list.ranking.history) : '';
    const listedBy = list.kind === 'numbered' ? (list.batches.listed?.operation ?? '') : '';
    return `('${list.name}', '${list.kind}', '${tableName(list.table)}', '${history}', '${listedBy}')`;
  });
  return `create or replace view etl.lists as
select operation, kind, items, nullif(history, '') as history, nullif(listed_by, '') as listed_by
from (values ${rows.join(', ')}) as list (operation, kind, items, history, listed_by);

comment on view etl.lists is 'The lists that this version knows, with the table of their items, that of a ranking''s changes, and the list that has the numbers of a numbered one.';`;
}

/** For each numbered list that declares one: the list that has its numbers. */
const listings = () =>
  ofKind('numbered').flatMap(({ name, batches: { listed } }) => {
    const list = ofKind('newest-first').find((one) => one.name === listed?.operation);
    if (list === undefined || listed === null) return [];
    return [{ ...listed, name, table: tableName(list.table), number: list.order.columns.height }];
  });

const union = (parts: readonly string[]) => parts.join('\nunion all');

function batchViews(): string {
  const blocks = ofKind('numbered').map(
    ({ name, table, batches }) => `
select '${name}'::text as operation, chain_id, ${batches.number} as batch_number, height, hash, parent_hash,
       timestamp, is_pending_update
from ${tableName(table)}`,
  );
  const states = ofKind('numbered').map(
    ({ name, batches }) => `
select '${name}'::text as operation, chain_id, batch_number, state, blocks_count, first_height,
       last_height, is_contiguous, is_linked, is_verified, walked_at
from ${tableName(batches.states)}`,
  );
  const listed = listings().map(
    ({ name, table, number, first, last }) => `
select '${name}'::text as operation, chain_id, ${number} as batch_number,
       ${first} as first_height, ${last} as last_height
from ${table}
where removed_at is null`,
  );
  return `create or replace view etl.batch_blocks as${union(blocks)};

create or replace view etl.batch_states as${union(states)};

create or replace view etl.batch_listings as${union(listed)};

comment on view etl.batch_blocks is 'The blocks of each numbered list, under the same names.';
comment on view etl.batch_states is 'What is known of each number of each numbered list.';
comment on view etl.batch_listings is 'The numbers that another list has, of the numbered lists that declare one.';`;
}

const itemFunctionOf = (parts: readonly string[]) => `
returns table (height bigint, "timestamp" timestamptz, updated_at timestamptz)
language plpgsql stable rows 1 set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin${parts.join('')}
end
$$;`;

/**
 * A branch for each list that has heights: Citus refuses lateral joins into a distributed table, and reads a union
 * whole. They name tables of schema explorer only, which analysts may read.
 */
function items(): string {
  const lists = [
    ...ofKind('newest-first').map(({ name, table, order: { columns, key } }) => ({
      name,
      ...columns,
      from: `${tableName(table)} as item`,
      ascending: [...new Set([columns.height, ...key.map(({ column }) => column)])].join(', '),
    })),
    ...ofKind('numbered').map(({ name, table, batches }) => ({
      name,
      height: 'batch_number',
      time: 'timestamp',
      from: `${tableName(batches.states)} as batch join ${tableName(table)} as item
      on item.chain_id = batch.chain_id and item.height = last_height and blocks_count > 0`,
      ascending: 'batch_number',
    })),
  ];
  const branches = (condition: (list: (typeof lists)[number]) => string) =>
    lists.map(
      (list) => `
  if of_operation = '${list.name}' then
    return query
    select ${list.height}, ${list.time}, item.updated_at
    from ${list.from}
    where item.chain_id = of_chain and ${condition(list)}
    limit most;
  end if;`,
    );
  const below = branches(
    ({ height, time }) =>
      `${height} <= at_most and (before is null or ${time} < before) order by ${height} desc`,
  );
  const above = branches(
    ({ height, time, ascending }) =>
      `${height} >= at_least and ${time} is not null order by ${ascending}`,
  );
  return `create or replace function etl.items_below(
  of_chain bigint, of_operation text, at_most bigint, before timestamptz default 'infinity', most int default 1
)${itemFunctionOf(below)}

create or replace function etl.items_above(
  of_chain bigint, of_operation text, at_least bigint, most int default 1
)${itemFunctionOf(above)}

comment on function etl.items_below is 'The highest stored items of a list at or below a height that are older than a time; infinity: any that report their own; null: any. An item of a numbered list is a batch with blocks, as old as its last block.';
comment on function etl.items_above is 'The lowest stored items of a list at or above a height that report their time; of a numbered list batches with blocks.';`;
}

/** They note what edits a batch: what was verified of it is checked again. */
function triggers(): string {
  const onBatches = ofKind('numbered').map(({ name, table, batches: { states, number } }) => {
    const onBlocks = (event: string, rows: string) => `
create or replace trigger note_${event}s after ${event} on ${tableName(table)} referencing ${rows}
for each statement execute function etl.note_block_edits('${name}', '${number}');`;
    return `${onBlocks('insert', 'new table as new_rows')}
${onBlocks('update', 'old table as old_rows new table as new_rows')}
${onBlocks('delete', 'old table as old_rows')}

create or replace trigger note_edit
after insert or delete or update on ${tableName(states)}
for each row execute function etl.note_batch_edit('${name}');`;
  });
  const onListings = listings().map(
    ({ name, table, number, first, last }) => `
create or replace trigger note_listing_edit
after insert or update of ${first}, ${last}, removed_at on ${table}
for each row execute function etl.note_listing_edit('${name}', '${number}');`,
  );
  return [...onBatches, ...onListings].join('\n');
}
