/**
 * As SQL, of a row of `pg_constraint`: whether the server holds rows to it. From Postgres 18 on there are
 * foreign keys that only tell people and tools what refers to what.
 */
export const isEnforced = `coalesce((to_jsonb(pg_constraint) ->> 'conenforced')::boolean, true)`;
