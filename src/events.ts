import type { LogLevel } from './log-levels.ts';
import { counted, duration } from './terminal/numbers.ts';

/** What a field of a log line holds. Of foreign origin is `text` alone: it is redacted and escaped. */
export interface FieldTypes {
  readonly name: string;
  readonly 'name or null': string | null;
  readonly time: string | null;
  readonly number: number;
  readonly text: string;
  readonly 'text or null': string | null;
  readonly texts: readonly string[];
}

/** Every field that a log line may have: a name means the same in every event. docs/logs.md says what. */
export const fields = {
  added: 'number',
  again_in_ms: 'number',
  chain: 'number',
  chains: 'number',
  changed: 'number',
  credits: 'number',
  detail: 'text',
  error: 'text',
  failure: 'name or null',
  feed: 'name',
  feeds: 'number',
  folder: 'text',
  items: 'number',
  key: 'name',
  kind: 'name',
  lane: 'name',
  mode: 'name',
  ms: 'number',
  next_poll: 'time',
  outcome: 'name',
  page: 'number',
  pages: 'number',
  path: 'text',
  pooler: 'name',
  problem: 'text',
  problems: 'texts',
  quarantined: 'number',
  queue: 'name',
  reason: 'text or null',
  requests: 'number',
  runs: 'number',
  seconds: 'number',
  stack: 'text',
  state: 'name',
  url: 'text',
  variable: 'name',
  walks: 'number',
  was: 'name',
  ways: 'number',
} as const satisfies Readonly<Record<string, keyof FieldTypes>>;

export type FieldName = keyof typeof fields;

/** The values that an event with these fields is told with. */
export type FieldsOf<Name extends FieldName> = {
  readonly [Field in Name]: FieldTypes[(typeof fields)[Field]];
};

/** What repeats and ends together: one line reports it, however many feeds it stops. */
export type Trouble = 'feed' | 'key' | 'chain' | 'database';

/** How an event is told, and what of. */
export interface EventRule<Name extends FieldName> {
  readonly level: Exclude<LogLevel, 'silent'>;
  readonly fields: readonly Name[];
  /** The event in one line for people, at its time. What it is given is redacted; what acts on a terminal is escaped later. */
  readonly says: (fields: FieldsOf<Name>, atMs: number) => string;
  /** Of what trouble it is a part: that it comes again with the same `same` is counted, and seldom told. */
  readonly repeats?: { readonly of: Trouble; readonly same: readonly Name[] };
  /** The trouble that is over with it. */
  readonly ends?: Trouble;
}

/** Lets the text of an event see the fields of that event alone. */
const event = <const Name extends FieldName = never>(rule: EventRule<Name>): EventRule<Name> =>
  rule;

/** Most runs are of the live lane: the other one is named. */
const lineOf = (feed: string, lane: string) => (lane === 'live' ? feed : `${feed} (${lane})`);

const feedFailure = (level: 'warn' | 'error') =>
  event({
    level,
    fields: ['feed', 'lane', 'state', 'failure', 'reason'],
    says: ({ feed, state, reason }) => `${feed}: ${state}: ${reason ?? 'no reason is known'}`,
    repeats: { of: 'feed', same: ['failure', 'reason'] },
  });

const databaseFailure = (level: 'debug' | 'warn') =>
  event({
    level,
    fields: ['error'],
    says: ({ error }) => error,
    repeats: { of: 'database', same: ['error'] },
  });

/** Every event that a log line may tell, by its stable name. docs/logs.md is held against it. */
export const events = {
  'start.ready': event({
    level: 'info',
    fields: ['feeds', 'chains', 'next_poll'],
    says: ({ feeds, chains, next_poll }, atMs) =>
      `${counted(feeds, 'feed')} of ${counted(chains, 'chain')}; ${next_poll === null ? 'no schedule is ever due' : `next poll in ${duration(Math.max(0, Math.round((Date.parse(next_poll) - atMs) / 1000)))}`}; Ctrl-C stops`,
  }),
  'http.listening': event({
    level: 'info',
    fields: ['url'],
    says: ({ url }) => url,
  }),
  'http.changed': event({
    level: 'warn',
    fields: [],
    says: () => 'http has changed in the configuration: it applies from the next start on',
  }),
  'start.stopped': event({
    level: 'info',
    fields: [],
    says: () => 'what was read is kept; the next start goes on from there',
  }),
  'start.failed': event({
    level: 'error',
    fields: ['problems'],
    says: ({ problems }) => problems.join('; '),
  }),
  'config.reloaded': event({
    level: 'info',
    fields: ['feeds'],
    says: ({ feeds }) => `${counted(feeds, 'feed')} from now on`,
  }),
  'config.refused': event({
    level: 'error',
    fields: ['problems'],
    says: ({ problems }) => `the one before stays in force: ${problems.join('; ')}`,
  }),
  'feed.updated': event({
    level: 'info',
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
        `${lineOf(feed, lane)}: ${counted(added, 'new', 'new')}`,
        ...(changed === 0 ? [] : [counted(changed, 'changed', 'changed')]),
        ...(quarantined === 0 ? [] : [`${counted(quarantined, 'item')} in quarantine`]),
        counted(pages, 'page'),
        duration(seconds),
      ].join(', '),
  }),
  'feed.reading': event({
    level: 'info',
    fields: ['feed', 'lane', 'items', 'pages', 'seconds'],
    says: ({ feed, lane, items, pages, seconds }) =>
      `${lineOf(feed, lane)}: ${counted(items, 'item')}, ${counted(pages, 'page')} in ${duration(seconds)}, and goes on`,
  }),
  'feed.polled': event({
    level: 'debug',
    fields: ['feed', 'lane', 'pages', 'requests', 'credits', 'seconds'],
    says: ({ feed, lane, pages, seconds }) =>
      `${lineOf(feed, lane)}: nothing new, ${counted(pages, 'page')}, ${duration(seconds)}`,
  }),
  'feed.drift': event({
    level: 'warn',
    fields: ['feed', 'lane', 'ways', 'kind', 'path', 'detail', 'page'],
    says: ({ feed, ways, kind, path, detail }) =>
      `${feed}: items differ in ${counted(ways, 'new way')}, such as ${kind} ${path}${detail === '' ? '' : ` (${detail})`}. verify lists them.`,
  }),
  'feed.failure': feedFailure('warn'),
  'feed.failed': feedFailure('error'),
  'feed.internal-error': event({
    level: 'error',
    fields: ['feed', 'lane', 'reason', 'stack'],
    says: ({ feed, reason }) => `${feed}: failed: ${reason ?? 'no reason is known'}`,
    repeats: { of: 'feed', same: ['reason'] },
  }),
  'key.waiting': event({
    level: 'warn',
    fields: ['variable', 'failure', 'problem'],
    says: ({ variable, failure, problem }) =>
      `${variable}: ${failure}: ${problem}. Its feeds go on by themselves.`,
    repeats: { of: 'key', same: ['failure', 'problem'] },
  }),
  'key.refused': event({
    level: 'error',
    fields: ['variable', 'failure', 'problem'],
    says: ({ variable, failure, problem }) =>
      `${variable}: ${failure}: ${problem}. Set a key that the explorer accepts, and start again.`,
    repeats: { of: 'key', same: ['failure', 'problem'] },
  }),
  'key.accepted': event({
    level: 'info',
    fields: ['variable', 'was'],
    says: ({ variable, was }) => `${variable}: works again, was ${was}`,
    ends: 'key',
  }),
  'chain.unknown': event({
    level: 'error',
    fields: ['chain', 'problem'],
    says: ({ chain, problem }) =>
      `chain ${chain}: ${problem}. Check its number, or remove it from the configuration.`,
    repeats: { of: 'chain', same: ['problem'] },
  }),
  'feed.recovered': event({
    level: 'info',
    fields: ['feed', 'was', 'reason'],
    says: ({ feed, was }) => `${feed}: works again, was ${was}`,
    ends: 'feed',
  }),
  'feed.elsewhere': event({
    level: 'warn',
    fields: ['feed', 'lane'],
    says: ({ feed }) =>
      `${feed}: is read from another explorer since; this process makes no request for it`,
    repeats: { of: 'feed', same: [] },
  }),
  'slice.started': event({
    level: 'debug',
    fields: ['feed', 'lane'],
    says: ({ feed, lane }) => `${feed} (${lane}): started`,
  }),
  'slice.done': event({
    level: 'debug',
    fields: ['feed', 'lane', 'ms', 'outcome'],
    says: ({ feed, lane, ms, outcome }) => `${feed} (${lane}): ${outcome} after ${ms} ms`,
  }),
  'job.taken-over': event({
    level: 'warn',
    fields: ['queue', 'key'],
    says: ({ queue, key }) => `${key} in ${queue}: its worker is gone, another one goes on`,
  }),
  'database.embedded': event({
    level: 'info',
    fields: ['folder'],
    says: ({ folder }) => `embedded Postgres; its data is in ${folder}`,
  }),
  'database.pooled': event({
    level: 'info',
    fields: ['pooler', 'mode'],
    says: ({ pooler, mode }) => `${pooler} is in between, in ${mode} mode`,
  }),
  'database.locked': event({
    level: 'info',
    fields: ['reason'],
    says: ({ reason }) => reason ?? 'waits for another process',
  }),
  'database.away': event({
    level: 'warn',
    fields: ['error', 'again_in_ms'],
    says: ({ error, again_in_ms }) => `${error}; again in ${duration(again_in_ms / 1000)}`,
    repeats: { of: 'database', same: ['error'] },
  }),
  'database.back': event({
    level: 'info',
    fields: [],
    says: () => 'it answers again',
    ends: 'database',
  }),
  'queue.failure': databaseFailure('warn'),
  'nudge.failure': databaseFailure('warn'),
  'watch.failure': databaseFailure('debug'),
  'housekeeping.failure': databaseFailure('warn'),
  'sums.failure': databaseFailure('warn'),
  'sums.long': event({
    level: 'info',
    fields: [],
    says: () =>
      'the daily tables are being brought up to date; stopped now, it goes on the next time',
  }),
  'archive.expired': event({
    level: 'info',
    fields: ['pages'],
    says: ({ pages }) => `${counted(pages, 'archived page')} deleted`,
  }),
  'ledger.thinned': event({
    level: 'info',
    fields: ['walks', 'pages', 'runs'],
    says: ({ walks, pages }) =>
      `${counted(walks, 'old walk')} that brought nothing deleted, with ${counted(pages, 'page')}`,
  }),
};

export type EventName = keyof typeof events;

/** What an event is told with. */
export type EventFields<Event extends EventName> = Parameters<(typeof events)[Event]['says']>[0];
