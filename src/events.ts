import { counted, duration } from './terminal/numbers.ts';

/** The types of fields. Only `text` is foreign: it is redacted and escaped. */
export interface FieldTypes {
  readonly name: string;
  readonly 'name or null': string | null;
  readonly time: string | null;
  readonly number: number;
  readonly text: string;
  readonly 'text or null': string | null;
  readonly texts: readonly string[];
}

/** The fields that are no number: a name means the same in every event (docs/logs.md). */
const otherFields = {
  detail: 'text',
  error: 'text',
  failure: 'name or null',
  feed: 'name',
  folder: 'text',
  key: 'name',
  kind: 'name',
  lane: 'name',
  next_poll: 'time',
  outcome: 'name',
  path: 'text',
  problem: 'text',
  problems: 'texts',
  queue: 'name',
  reason: 'text or null',
  stack: 'text',
  state: 'name',
  url: 'text',
  variable: 'name',
  was: 'name',
} as const satisfies Readonly<Record<string, keyof FieldTypes>>;

type Other = typeof otherFields;

export const kindOfField = (name: string): keyof FieldTypes =>
  name in otherFields ? otherFields[name as keyof Other] : 'number';

type FieldsOf<Name extends string> = {
  readonly [Field in Name]: Field extends keyof Other ? FieldTypes[Other[Field]] : number;
};

/** What repeats and ends as one, however many feeds it stops: the field that names it, if any does. */
export type Trouble = 'feed' | 'variable' | 'chain' | 'database';

interface Repetition {
  /** Counted by its event and class of failure, and logged at growing intervals. */
  readonly repeats?: Trouble;
  /** The trouble that ends with it. */
  readonly ends?: Trouble;
}

/**
 * `says` is one line for people, of which `{field}` is a value and `{field: noun}` a count. Fields are redacted before,
 * and escaped after.
 */
const event = <const Name extends string = never>(
  level: 'debug' | 'info' | 'warn' | 'error',
  names: readonly Name[],
  says: string | ((given: FieldsOf<Name>, atMs: number) => string),
  repetition: Repetition = {},
) => ({
  level,
  fields: names,
  says: (given: FieldsOf<Name>, atMs: number) =>
    typeof says === 'string' ? filled(says, given) : says(given, atMs),
  ...repetition,
});

type Values = Readonly<Record<string, FieldTypes[keyof FieldTypes]>>;

const filled = (template: string, given: Values): string =>
  template.replaceAll(/\{(\w+)(?:: ([^}]+))?\}/gu, (_, name: string, noun?: string) => {
    const value = given[name] ?? 'no reason is known';
    if (noun !== undefined) return counted(Number(value), noun);
    return typeof value === 'object' ? value.join('; ') : String(value);
  });

/** The live lane is the usual one, so only the other is named. */
const lineOf = (feed: string, lane: string) => (lane === 'live' ? feed : `${feed} (${lane})`);

const feedFailure = (level: 'warn' | 'error') =>
  event(level, ['feed', 'lane', 'state', 'failure', 'reason'], '{feed}: {state}: {reason}', {
    repeats: 'feed',
  });

const keyFailure = (level: 'warn' | 'error', advice: string) =>
  event(level, ['variable', 'failure', 'problem'], `{variable}: {failure}: {problem}. ${advice}`, {
    repeats: 'variable',
  });

const databaseFailure = (level: 'debug' | 'warn') =>
  event(level, ['error'], '{error}', { repeats: 'database' });

/** Every event of the log, by its stable name (docs/logs.md). */
export const events = {
  'start.ready': event(
    'info',
    ['feeds', 'chains', 'next_poll'],
    ({ feeds, chains, next_poll }, atMs) =>
      `${counted(feeds, 'feed')} of ${counted(chains, 'chain')}; ${next_poll === null ? 'no schedule is ever due' : `next poll in ${duration(Math.max(0, Math.round((Date.parse(next_poll) - atMs) / 1000)))}`}; Ctrl-C stops`,
  ),
  'http.listening': event('info', ['url'], '{url}'),
  'start.stopped': event('info', [], 'what was read is kept; the next start goes on from there'),
  'start.failed': event('error', ['problems'], '{problems}'),
  'feed.updated': event(
    'info',
    ['feed', 'lane', 'added', 'changed', 'quarantined', 'pages', 'requests', 'credits', 'seconds'],
    ({ feed, lane, added, changed, quarantined, pages, seconds }) =>
      [
        `${lineOf(feed, lane)}: ${counted(added, 'new', 'new')}`,
        ...(changed === 0 ? [] : [counted(changed, 'changed', 'changed')]),
        ...(quarantined === 0 ? [] : [`${counted(quarantined, 'item')} in quarantine`]),
        counted(pages, 'page'),
        duration(seconds),
      ].join(', '),
  ),
  'feed.reading': event(
    'info',
    ['feed', 'lane', 'items', 'pages', 'seconds'],
    ({ feed, lane, items, pages, seconds }) =>
      `${lineOf(feed, lane)}: ${counted(items, 'item')}, ${counted(pages, 'page')} in ${duration(seconds)}, and goes on`,
  ),
  'feed.polled': event(
    'debug',
    ['feed', 'lane', 'pages', 'requests', 'credits', 'seconds'],
    ({ feed, lane, pages, seconds }) =>
      `${lineOf(feed, lane)}: nothing new, ${counted(pages, 'page')}, ${duration(seconds)}`,
  ),
  'feed.drift': event(
    'warn',
    ['feed', 'lane', 'ways', 'kind', 'path', 'detail', 'page'],
    ({ feed, ways, kind, path, detail }) =>
      `${feed}: items differ in ${counted(ways, 'new way')}, such as ${kind} ${path}${detail === '' ? '' : ` (${detail})`}. verify lists them.`,
  ),
  'feed.failure': feedFailure('warn'),
  'feed.failed': feedFailure('error'),
  'feed.internal-error': event(
    'error',
    ['feed', 'lane', 'reason', 'stack'],
    '{feed}: failed: {reason}',
    { repeats: 'feed' },
  ),
  'key.waiting': keyFailure('warn', 'Its feeds go on by themselves.'),
  'key.refused': keyFailure('error', 'Set a key that the explorer accepts, and start again.'),
  'key.accepted': event('info', ['variable', 'was'], '{variable}: works again, was {was}', {
    ends: 'variable',
  }),
  'chain.unknown': event(
    'error',
    ['chain', 'problem'],
    'chain {chain}: {problem}. Check its number, or remove it from the configuration.',
    { repeats: 'chain' },
  ),
  'feed.recovered': event('info', ['feed', 'was', 'reason'], '{feed}: works again, was {was}', {
    ends: 'feed',
  }),
  'feed.source-mismatch': event(
    'warn',
    ['feed', 'lane'],
    '{feed}: is read from another explorer since; this process makes no request for it',
    { repeats: 'feed' },
  ),
  'slice.started': event('debug', ['feed', 'lane'], '{feed} ({lane}): started'),
  'slice.done': event(
    'debug',
    ['feed', 'lane', 'ms', 'outcome'],
    '{feed} ({lane}): {outcome} after {ms} ms',
  ),
  'job.taken-over': event(
    'warn',
    ['queue', 'key'],
    '{key} in {queue}: its worker is gone, another one goes on',
  ),
  'database.embedded': event('info', ['folder'], 'embedded Postgres; its data is in {folder}'),
  'database.locked': event(
    'info',
    ['reason'],
    ({ reason }) => reason ?? 'waits for another process',
  ),
  'database.away': event(
    'warn',
    ['error', 'again_in_ms'],
    ({ error, again_in_ms }) => `${error}; again in ${duration(again_in_ms / 1000)}`,
    { repeats: 'database' },
  ),
  'database.back': event('info', [], 'it answers again', { ends: 'database' }),
  'queue.failure': databaseFailure('warn'),
  'nudge.failure': databaseFailure('warn'),
  'watch.failure': databaseFailure('debug'),
  'housekeeping.failure': databaseFailure('warn'),
  'sums.failure': databaseFailure('warn'),
  'sums.long': event(
    'info',
    [],
    'the daily tables are being brought up to date; stopped now, it goes on the next time',
  ),
  'archive.expired': event('info', ['pages'], '{pages: archived page} deleted'),
  'ledger.pruned': event(
    'info',
    ['walks', 'pages', 'runs'],
    '{walks: old walk} that brought nothing deleted, with {pages: page}',
  ),
};

export type EventName = keyof typeof events;

export type EventFields<Event extends EventName> = Parameters<(typeof events)[Event]['says']>[0];
