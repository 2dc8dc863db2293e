/** As SQL of Grafana: the days and chains that are shown. */
export const ofDays = `day between ($__timeFrom()::timestamptz at time zone 'UTC')::date
                  and ($__timeTo()::timestamptz at time zone 'UTC')::date
    and chain_id in ($chain)`;
/** As SQL: a day as the time at which it begins, UTC. */
export const ofDay = `day::timestamp at time zone 'UTC'`;
