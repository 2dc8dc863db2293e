import type { Pool } from 'pg';

/**
 * Sets the clock of a database to noon for the session of a pool that has one, and for whoever connects from
 * now on, so that no midnight, when credits come back, falls into a test. Not for tests with jobs, since the
 * defaults of pg-boss' columns are bound to Postgres' own.
 */
export async function startAtNoon(pool: Pool): Promise<void> {
  // `now()` and `clock_timestamp()` are other functions than Postgres' from now on.
  await pool.query(`
    do $$
    declare
      shift interval := date_trunc('day', now(), 'utc') + interval '12 hours' - now();
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
