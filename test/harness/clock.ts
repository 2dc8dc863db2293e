import type { Pool } from 'pg';

/**
 * Makes a database be as after its server's clock was set back: every time that is stored lies so
 * much later than it did. An interval as Postgres spells it, such as `1 hour`.
 */
export async function setClockBack(pool: Pool, by: string): Promise<void> {
  const { rows: tables } = await pool.query<{ statement: string }>(
    `select format('update %I.%I set %s', table_schema, table_name,
              string_agg(format('%1$I = %1$I + %2$L::interval', column_name, $1::text), ', ')
            ) as statement
     from information_schema.columns join information_schema.tables
       using (table_catalog, table_schema, table_name)
     where table_type = 'BASE TABLE' and is_generated = 'NEVER'
       and data_type in ('timestamp with time zone', 'timestamp without time zone')
       and table_schema in ('explorer', 'etl', 'pgboss')
       and table_name <> '__pgboss_test_clock'
       and not exists (select from pg_inherits
         where inhrelid = format('%I.%I', table_schema, table_name)::regclass)
     group by table_schema, table_name`,
    [by],
  );
  for (const { statement } of tables) await pool.query(statement);
}

/**
 * Sets the clock of a database to noon for the session of a pool that has one, and for whoever connects from
 * now on, so that no midnight, when credits come back, falls into a test. Not for tests with jobs, since the
 * defaults of pg-boss' columns are bound to Postgres' own.
 */
export const startAtNoon = (pool: Pool): Promise<void> =>
  shiftClock(pool, `date_trunc('day', now(), 'utc') + interval '12 hours' - now()`);

/** Sets the clock of a database ahead, in the same way. An interval as Postgres spells it, such as `1 hour`. */
export const setClockAhead = (pool: Pool, by: string): Promise<void> =>
  shiftClock(pool, `interval '${by}'`);

/** `now()` and `clock_timestamp()` are other functions than Postgres' from now on. */
async function shiftClock(pool: Pool, by: string): Promise<void> {
  await pool.query(`
    do $$
    declare
      shift interval := ${by};
    begin
      create schema other_clock;
      execute format(
        'create function other_clock.now() returns timestamptz language sql stable
           return pg_catalog.now() + %1$L::interval;
         create function other_clock.clock_timestamp() returns timestamptz language sql volatile
           return pg_catalog.clock_timestamp() + %1$L::interval;', shift);
      execute format('alter database %I set search_path = other_clock, pg_catalog', current_database());
    end
    $$;
    set search_path = other_clock, pg_catalog`);
}

const today = () => new Date().toISOString().slice(0, 10);

/** Runs a test that rests on a day's credits, and once more where a midnight fell into it. */
export async function withinADay(run: () => Promise<void>): Promise<void> {
  const day = today();
  try {
    await run();
  } catch (error) {
    if (today() === day) throw error;
    await run();
  }
}
