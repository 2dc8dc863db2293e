/** As SQL of Grafana: the days and chains that are shown. */
export const ofDays = `day between ($__timeFrom()::timestamptz at time zone 'UTC')::date
                  and ($__timeTo()::timestamptz at time zone 'UTC')::date
    and chain_id in ($chain)`;
/** As SQL: a currency by its symbol; one without a symbol by its chain, because it is added to no other. */
export const currency = (of: string) => `coalesce(${of}.native_symbol, chains.name)`;
/** As SQL: a chain and the currency that it counts in. */
export const chainAndCurrency = (of: string) => `concat_ws(', ', chains.name, ${of}.native_symbol)`;
/** As SQL: a day as the time at which it begins, UTC. */
export const ofDay = `day::timestamp at time zone 'UTC'`;
