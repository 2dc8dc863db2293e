import { event } from './event-fields.ts';
import { counted, duration } from './terminal/numbers.ts';

/** Every event that a log line may tell, by its stable name. docs/logs.md is held against it. */
export const events = {
  'start.ready': event({
    level: 'info',
    meaning: '`start` works from now on',
    fields: ['feeds', 'chains', 'next_poll'],
    says: ({ feeds, chains, next_poll }, atMs) =>
      `${counted(feeds, 'feed')} of ${counted(chains, 'chain')}; ${next_poll === null ? 'no schedule is ever due' : `next poll in ${duration(Math.max(0, Math.round((Date.parse(next_poll) - atMs) / 1000)))}`}; Ctrl-C stops`,
  }),
  'http.listening': event({
    level: 'info',
    meaning: 'the page, health and metrics are served',
    fields: ['url'],
    says: ({ url }) => url,
  }),
  'http.changed': event({
    level: 'warn',
    meaning: 'what the configuration says of `http` has changed: it applies from the next start on',
    fields: [],
    says: () => 'http has changed in the configuration: it applies from the next start on',
  }),
  'start.stopped': event({
    level: 'info',
    meaning: '`start` has ended as it was told to',
    fields: [],
    says: () => 'what was read is kept; the next start goes on from there',
  }),
  'start.failed': event({
    level: 'error',
    meaning:
      '`start` ends with exit code 1 or 2. In JSON lines only: in `pretty` the text stands alone',
    fields: ['problems'],
    says: ({ problems }) => problems.join('; '),
  }),
  'config.reloaded': event({
    level: 'info',
    meaning: 'the configuration was read again and applies',
    fields: ['feeds'],
    says: ({ feeds }) => `${counted(feeds, 'feed')} from now on`,
  }),
  'config.refused': event({
    level: 'error',
    meaning: 'the configuration is wrong; the one before it stays in force',
    fields: ['problems'],
    says: ({ problems }) => `the one before stays in force: ${problems.join('; ')}`,
  }),
  'feed.updated': event({
    level: 'info',
    meaning: 'a run of a lane ended and had brought something',
    fields: [
      'feed',
      'lane',
      'added',
      'changed',
      'quarantined',
      'pages',
      'requests',
      'credits',
      'seconds',
    ],
    says: ({ feed, lane, added, changed, quarantined, pages, seconds }) =>
      [
        `${feed}${lane === 'live' ? '' : ` (${lane})`}: ${counted(added, 'new', 'new')}`,
        ...(changed === 0 ? [] : [counted(changed, 'changed', 'changed')]),
        ...(quarantined === 0 ? [] : [`${counted(quarantined, 'item')} in quarantine`]),
        counted(pages, 'page'),
        duration(seconds),
      ].join(', '),
  }),
  'feed.reading': event({
    level: 'info',
    meaning: 'a lane goes on reading; told once a minute, with what it has read since',
    fields: ['feed', 'lane', 'items', 'pages', 'seconds'],
    says: ({ feed, lane, items, pages, seconds }) =>
      `${feed}${lane === 'live' ? '' : ` (${lane})`}: ${counted(items, 'item')}, ${counted(pages, 'page')} in ${duration(seconds)}, and goes on`,
  }),
  'feed.polled': event({
    level: 'debug',
    meaning: 'a run of a lane ended and had brought nothing',
    fields: ['feed', 'lane', 'pages', 'requests', 'credits', 'seconds'],
    says: ({ feed, lane, pages, seconds }) =>
      `${feed}${lane === 'live' ? '' : ` (${lane})`}: nothing new, ${counted(pages, 'page')}, ${duration(seconds)}`,
  }),
  'feed.drift': event({
    level: 'warn',
    meaning:
      'items differ from the specification in ways that the feed had not shown, with the first of them. Told once a slice',
    fields: ['feed', 'lane', 'ways', 'kind', 'path', 'detail', 'page'],
    says: ({ feed, ways, kind, path, detail }) =>
      `${feed}: items differ in ${counted(ways, 'new way')}, such as ${kind} ${path}${detail === '' ? '' : ` (${detail})`}. verify lists them.`,
  }),
  'feed.failure': event({
    level: 'warn',
    meaning: 'a feed could not go on; it is tried again as its class says',
    fields: ['feed', 'lane', 'state', 'failure', 'reason'],
    says: ({ feed, state, reason }) => `${feed}: ${state}: ${reason ?? 'no reason is known'}`,
    repeats: { of: 'feed', same: ['failure', 'reason'] },
  }),
  'feed.failed': event({
    level: 'error',
    meaning: 'a run ended failed: look at it',
    fields: ['feed', 'lane', 'state', 'failure', 'reason'],
    says: ({ feed, state, reason }) => `${feed}: ${state}: ${reason ?? 'no reason is known'}`,
    repeats: { of: 'feed', same: ['failure', 'reason'] },
  }),
  'feed.internal-error': event({
    level: 'error',
    meaning: 'a defect of explorer-etl ended a run: report it with its stack',
    fields: ['feed', 'lane', 'reason', 'stack'],
    says: ({ feed, reason }) => `${feed}: failed: ${reason ?? 'no reason is known'}`,
    repeats: { of: 'feed', same: ['reason'] },
  }),
  'key.waiting': event({
    level: 'warn',
    meaning: 'a key is throttled or out of credits: all of its feeds wait',
    fields: ['variable', 'failure', 'problem'],
    says: ({ variable, failure, problem }) =>
      `${variable}: ${failure}: ${problem}. Its feeds go on by themselves.`,
    repeats: { of: 'key', same: ['failure', 'problem'] },
  }),
  'key.refused': event({
    level: 'error',
    meaning: 'the explorer does not accept a key, or saw none: all of its feeds stop',
    fields: ['variable', 'failure', 'problem'],
    says: ({ variable, failure, problem }) =>
      `${variable}: ${failure}: ${problem}. Set a key that the explorer accepts, and start again.`,
    repeats: { of: 'key', same: ['failure', 'problem'] },
  }),
  'key.accepted': event({
    level: 'info',
    meaning: 'a page came with a key that was refused, throttled or out of credits',
    fields: ['variable', 'was'],
    says: ({ variable, was }) => `${variable}: works again, was ${was}`,
    ends: 'key',
  }),
  'chain.unknown': event({
    level: 'error',
    meaning: 'the explorer does not serve a chain: check its number',
    fields: ['chain', 'problem'],
    says: ({ chain, problem }) =>
      `chain ${chain}: ${problem}. Check its number, or remove it from the configuration.`,
    repeats: { of: 'chain', same: ['problem'] },
  }),
  'feed.recovered': event({
    level: 'info',
    meaning: 'a failing feed succeeded again',
    fields: ['feed', 'was', 'reason'],
    says: ({ feed, was }) => `${feed}: works again, was ${was}`,
    ends: 'feed',
  }),
  'feed.elsewhere': event({
    level: 'warn',
    meaning:
      'this process uses [another explorer](operating.md#another-explorer) than the feed, and makes no request for it',
    fields: ['feed', 'lane'],
    says: ({ feed }) =>
      `${feed}: is read from another explorer since; this process makes no request for it`,
    repeats: { of: 'feed', same: [] },
  }),
  'slice.done': event({
    level: 'debug',
    meaning: 'the scheduler lets a lane work in slices; one ended',
    fields: ['feed', 'lane', 'ms', 'outcome'],
    says: ({ feed, lane, ms, outcome }) => `${feed} (${lane}): ${outcome} after ${ms} ms`,
  }),
  'job.taken-over': event({
    level: 'warn',
    meaning: 'a job of a lost process was given back to the queue',
    fields: ['queue', 'key'],
    says: ({ queue, key }) => `${key} in ${queue}: its worker is gone, another one goes on`,
  }),
  'database.embedded': event({
    level: 'info',
    meaning: 'the embedded Postgres is used',
    fields: ['folder'],
    says: ({ folder }) => `embedded Postgres; its data is in ${folder}`,
  }),
  'database.pooled': event({
    level: 'info',
    meaning: 'a pooler is between the program and Postgres',
    fields: ['pooler', 'mode'],
    says: ({ pooler, mode }) => `${pooler} is in between, in ${mode} mode`,
  }),
  'database.locked': event({
    level: 'info',
    meaning: '`start` waits for another process that prepares the database',
    fields: ['reason'],
    says: ({ reason }) => reason ?? 'waits for another process',
  }),
  'database.away': event({
    level: 'warn',
    meaning: '`start` found no database that answers, and tries again',
    fields: ['error', 'again_in_ms'],
    says: ({ error, again_in_ms }) => `${error}; again in ${duration(again_in_ms / 1000)}`,
    repeats: { of: 'database', same: ['error'] },
  }),
  'database.back': event({
    level: 'info',
    meaning: 'the database answers again',
    fields: [],
    says: () => 'it answers again',
    ends: 'database',
  }),
  'queue.failure': event({
    level: 'warn',
    meaning: 'the database did not answer the queue, which tries again by itself',
    fields: ['error'],
    says: ({ error }) => error,
    repeats: { of: 'database', same: ['error'] },
  }),
  'nudge.failure': event({
    level: 'warn',
    meaning: 'the database did not answer whoever looks after open lanes; it is tried again',
    fields: ['error'],
    says: ({ error }) => error,
    repeats: { of: 'database', same: ['error'] },
  }),
  'watch.failure': event({
    level: 'debug',
    meaning: 'the database did not answer whoever looks for lost jobs; it is tried again',
    fields: ['error'],
    says: ({ error }) => error,
    repeats: { of: 'database', same: ['error'] },
  }),
  'housekeeping.failure': event({
    level: 'warn',
    meaning: 'the hourly deletion failed; it is done the next time',
    fields: ['error'],
    says: ({ error }) => error,
    repeats: { of: 'database', same: ['error'] },
  }),
  'sums.failure': event({
    level: 'warn',
    meaning: 'the daily tables could not be brought up to date; they will be the next time',
    fields: ['error'],
    says: ({ error }) => error,
    repeats: { of: 'database', same: ['error'] },
  }),
  'sums.long': event({
    level: 'info',
    meaning:
      'the daily tables are being brought up to date for longer than five seconds; stopped now, the rest is done the next time',
    fields: [],
    says: () =>
      'the daily tables are being brought up to date; stopped now, it goes on the next time',
  }),
  'archive.expired': event({
    level: 'info',
    meaning: 'archived bodies older than `archive_days` were deleted',
    fields: ['pages'],
    says: ({ pages }) => `${counted(pages, 'archived page')} deleted`,
  }),
  'ledger.thinned': event({
    level: 'info',
    meaning: 'polls older than `ledger_days` that brought nothing were deleted',
    fields: ['walks', 'pages', 'runs'],
    says: ({ walks, pages }) =>
      `${counted(walks, 'old walk')} that brought nothing deleted, with ${counted(pages, 'page')}`,
  }),
};

export type EventName = keyof typeof events;

/** What an event is told with. */
export type EventFields<Event extends EventName> = Parameters<(typeof events)[Event]['says']>[0];
