/** How fast requests may be made. */
export interface Rate {
  readonly perSecond: number;
  /** Requests that a day's credits pay for; null: as many as the rate allows. */
  readonly perDay: number | null;
}

/** A feed's part of the work. */
export interface Job {
  readonly feed: string;
  readonly requests: number;
  /** Walks at once, as many shares of the rate. */
  readonly walks: number;
  /** Walks that there may be in the end. Each has one request under way. */
  readonly mostWalks: number;
  /** How long an answer takes, in ms; null: not known, taken as no time. */
  readonly latencyMs: number | null;
}

/** What there is of the day when the work begins. */
interface Beginning {
  readonly at: Date;
  /** Requests that today's credits were spent on already. */
  readonly spentToday: number;
  /** Requests a day that keep other things current, and go first. */
  readonly upkeepPerDay: number;
}

const daySeconds = 86_400;
/** Nobody waits longer, and no loop runs longer; in seconds. */
const longestSeconds = 100 * 365 * daySeconds;

/**
 * When each job is done, in seconds from the beginning: all at once, each in proportion to its
 * walks and no faster than its answers come, until a day's credits are spent; then from midnight
 * UTC on. Null for a job that does not end within 100 years.
 */
export function endsOf(
  jobs: readonly Job[],
  rate: Rate,
  { at, spentToday, upkeepPerDay }: Beginning,
): ReadonlyMap<string, number | null> {
  const ends = new Map<string, number | null>(jobs.map(({ feed }) => [feed, null]));
  const left = new Map(jobs.map((job) => [job, job.requests]));
  const quota = rate.perDay === null ? Infinity : Math.max(0, rate.perDay - upkeepPerDay);
  const perSecond = Math.max(0, rate.perSecond - upkeepPerDay / daySeconds);
  let today = Math.max(0, quota - spentToday);
  let seconds = 0;
  let midnight = daySeconds - ((at.getTime() / 1000) % daySeconds);
  for (;;) {
    for (const [job, requests] of left) {
      if (requests > 0) continue;
      ends.set(job.feed, seconds);
      left.delete(job);
    }
    if (left.size === 0 || seconds > longestSeconds) return ends;
    const speeds = speedsOf([...left.keys()], perSecond);
    const total = [...speeds.values()].reduce((sum, speed) => sum + speed, 0);
    if (total === 0 || quota === 0) return ends;
    const untilDone = Math.min(
      ...[...left].map(([job, requests]) => requests / (speeds.get(job) ?? 0)),
    );
    const step = Math.min(untilDone, today / total, midnight - seconds);
    for (const [job, requests] of left) {
      const rest = requests - step * (speeds.get(job) ?? 0);
      left.set(job, rest < crumb ? 0 : rest);
    }
    seconds += step;
    today -= step * total;
    // Without credits, or at midnight itself, the next day begins.
    if (today < crumb || midnight - seconds < crumb) {
      if (hasWork(left)) seconds = midnight;
      today = quota;
      midnight += daySeconds;
    }
  }
}

/** Less than this of a request or a second is what rounding left over. */
const crumb = 1e-6;

const hasWork = (left: ReadonlyMap<Job, number>) => [...left.values()].some((rest) => rest > 0);

/** Shares the rate by walks; what one cannot use because its answers are slow, the others get. */
function speedsOf(jobs: readonly Job[], perSecond: number): ReadonlyMap<Job, number> {
  const speeds = new Map<Job, number>();
  let rest = perSecond;
  let open = [...jobs];
  for (;;) {
    const walks = open.reduce((sum, job) => sum + job.walks, 0);
    const slow = open.filter((job) => limitOf(job) < (rest * job.walks) / walks);
    if (slow.length === 0) {
      for (const job of open) speeds.set(job, (rest * job.walks) / walks);
      return speeds;
    }
    for (const job of slow) {
      speeds.set(job, limitOf(job));
      rest -= limitOf(job);
    }
    open = open.filter((job) => !slow.includes(job));
  }
}

/** Requests a second that its answers allow. */
export const limitOf = ({ mostWalks, latencyMs }: Job): number =>
  latencyMs === null || latencyMs === 0 ? Infinity : (mostWalks * 1000) / latencyMs;
