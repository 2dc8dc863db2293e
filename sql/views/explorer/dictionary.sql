create or replace view explorer.dictionary as
select relname::text as table_name,
       case when relkind = 'v' then 'view' else 'table' end as kind,
       attname::text as column_name, attnum::int as position,
       replace(format_type(atttypid, atttypmod), 'timestamp with time zone', 'timestamptz') as type,
       case when attname like '%\_native' then 'native_symbol'
            when attname ~ '_percent(age)?$' then 'percent'
            when attname like '%\_seconds' then 'seconds'
            when attname ~ '^size' then 'bytes'
            when attname ~ '^gas_(used|limit)$' then 'gas'
            when atttypid = 'timestamptz'::regtype then 'UTC'
            when atttypid = 'date'::regtype then 'UTC day'
            when atttypid <> 'numeric'::regtype then null
            when described.text ~ '\ywei per gas\y' then 'wei per gas'
            when described.text ~ '\ywei\y' then 'wei' end as unit,
       substring(described.text from 'API fields? ([^;.]*(?:\.[a-z_\[]+[^;.]*)*)') as source,
       attnum = any (own_key.columns) as is_key,
       case when relkind = 'v' then described.text ~ '\yNull: ' else not attnotnull end as is_nullable,
       substring(described.text from '\yNull: (.*)$') as null_means,
       described.text as description,
       null::text[] as questions
from pg_class
join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
cross join lateral (select col_description(pg_class.oid, attnum) as text) as described
left join lateral (
  select conkey as columns from pg_constraint where conrelid = pg_class.oid and contype = 'p'
) as own_key on true
where relnamespace = 'explorer'::regnamespace and relkind in ('r', 'p', 'v') and not relispartition
union all
select relname::text, case when relkind = 'v' then 'view' else 'table' end, null, 0, null, null,
       substring(obj_description(pg_class.oid, 'pg_class') from 'Source: ([^.]*(?:\.[a-z_\[]+[^.]*)*)'),
       null, null, null, obj_description(pg_class.oid, 'pg_class'), table_questions.questions
from pg_class
left join etl.table_questions on table_questions.table_name = relname
where relnamespace = 'explorer'::regnamespace and relkind in ('r', 'p', 'v') and not relispartition;

comment on view explorer.dictionary is 'What each table, view and column of this schema means: a row for each column, and one for each table, whose column_name is null. Made from the comments.';
comment on column explorer.dictionary.table_name is 'Name of the table or view.';
comment on column explorer.dictionary.kind is 'table or view.';
comment on column explorer.dictionary.column_name is 'Name of the column. Null: the row of a table.';
comment on column explorer.dictionary.position is 'Place of the column, from 1; 0 is the table.';
comment on column explorer.dictionary.type is 'Type of the column. Null: the row of a table.';
comment on column explorer.dictionary.unit is 'What it is counted in: UTC, wei, wei per gas, gas, bytes, seconds, percent; native_symbol: the currency that the column native_symbol names. Null: nothing of that kind.';
comment on column explorer.dictionary.source is 'Where the value comes from: a field of the API, with older names. Null: from the program, or the comment says it in other words.';
comment on column explorer.dictionary.is_key is 'Whether it is part of the primary key. Null: it is not, or a view has no key.';
comment on column explorer.dictionary.is_nullable is 'Whether it may be null. Null: the row of a table.';
comment on column explorer.dictionary.null_means is 'What it means where it is null. Null: it is never null, or nothing is said.';
comment on column explorer.dictionary.description is 'The comment.';
comment on column explorer.dictionary.questions is 'Two questions that the table answers. Null: the row of a column.';
