create or replace function etl.width(numbers int8multirange) returns bigint
language sql immutable
return coalesce((select sum(upper(range) - lower(range)) from unnest(numbers) as range), 0);

comment on function etl.width is 'How many numbers are in ranges.';
