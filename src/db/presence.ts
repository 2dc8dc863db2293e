/** The silence after which a process that works counts as lost, in seconds. */
export const silenceSeconds = 10;

/** As SQL: whether a row of `etl.workers` is of a process that lives. */
export const isSeen = `seen_at > clock_timestamp() - interval '${silenceSeconds} seconds'`;

/** As SQL: a process for people, such as `start of production on a-host`. */
export const processName = `concat(
  case kind when 'start' then 'start' else 'another command' end, ' of ' || deployment, ' on ', host
)`;

/** As SQL: the processes that live. */
export const workersPresent = `select * from etl.workers where ${isSeen}`;
