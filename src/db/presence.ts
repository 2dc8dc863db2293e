/** The silence after which a process that works counts as lost, in seconds. */
export const silenceSeconds = 10;

/** As SQL: whether a row of `etl.workers` is of a process that lives. */
export const isSeen = `seen_at > clock_timestamp() - interval '${silenceSeconds} seconds'`;

/** As SQL: the processes that live. */
export const workersPresent = `select * from etl.workers where ${isSeen}`;
