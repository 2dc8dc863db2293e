import { z } from 'zod';
import { printable, printableLines } from './printable.ts';
import { createRedactor, withoutPasswords } from './redact.ts';
import { paint } from './terminal/layout.ts';
import { counted, duration, whole } from './terminal/numbers.ts';

type Values = Readonly<Record<string, unknown>>;

const ownText = z.string().min(1);
/** Text from outside is redacted, because it may hold a secret. */
const foreignText = z.string();
const foreignOrNull = foreignText.nullable();
const foreignTexts = z.array(foreignText);
const foreign: ReadonlySet<z.ZodType> = new Set([foreignText, foreignOrNull, foreignTexts]);

/** The fields that are no number: a name means the same in every event (docs/logs.md). */
const otherFields = {
  detail: foreignText,
  error: foreignText,
  failure: ownText.nullable(),
  feed: ownText,
  folder: foreignText,
  key: ownText,
  kind: ownText,
  lane: ownText,
  next_poll: z.iso.datetime().nullable(),
  outcome: ownText,
  path: foreignText,
  problem: foreignText,
  problems: foreignTexts,
  queue: ownText,
  reason: foreignOrNull,
  stack: foreignText,
  url: foreignText,
  variable: ownText,
  was: ownText,
} as const;
type Other = typeof otherFields;

export const schemaOfField = (field: string): z.ZodType =>
  field in otherFields ? otherFields[field as keyof Other] : z.number();

type Value = z.infer<Other[keyof Other]> | number;

type FieldsOf<Name extends string> = {
  readonly [Field in Name]: Field extends keyof Other ? z.infer<Other[Field]> : number;
};

/** What repeats and ends as one, however many feeds it stops: the field that names it, if any does. */
type Trouble = 'feed' | 'variable' | 'chain' | 'database' | 'url';

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
const define = <const Name extends string = never>(
  level: Exclude<LogLevel, 'silent'>,
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

const filled = (template: string, given: Readonly<Record<string, Value>>): string =>
  template.replaceAll(/\{(\w+)(?:: ([^}]+))?\}/gu, (_, name: string, noun?: string) => {
    const value = given[name] ?? 'no reason is known';
    if (noun !== undefined) return counted(Number(value), noun);
    return Array.isArray(value) ? value.join('; ') : String(value);
  });

/** The live lane is the usual one, so only the other is named. */
const laneText = (feed: string, lane: string) => (lane === 'live' ? feed : `${feed} (${lane})`);

const feedFailure = (level: 'warn' | 'error') =>
  define(level, ['feed', 'lane', 'failure', 'reason'], '{feed}: {reason}', {
    repeats: 'feed',
  });

const keyFailure = (level: 'warn' | 'error', advice: string) =>
  define(level, ['variable', 'failure', 'problem'], `{variable}: {failure}: {problem}. ${advice}`, {
    repeats: 'variable',
  });

const databaseFailure = (level: 'debug' | 'warn') =>
  define(level, ['error'], '{error}', { repeats: 'database' });

/** Every event of the log, by its stable name (docs/logs.md). */
export const logEvents = {
  'start.ready': define(
    'info',
    ['feeds', 'chains', 'next_poll'],
    ({ feeds, chains, next_poll }, atMs) =>
      `${counted(feeds, 'feed')} of ${counted(chains, 'chain')}; ${next_poll === null ? 'no schedule is ever due' : `next poll in ${duration(Math.max(0, Math.round((Date.parse(next_poll) - atMs) / 1000)))}`}; Ctrl-C stops`,
  ),
  'start.beside': define(
    'info',
    ['detail'],
    'other deployments want feeds of this database: {detail}',
  ),
  'config.changed': define('info', ['detail'], 'settings differ from the last ones: {detail}'),
  'config.retired': define(
    'warn',
    ['detail', 'workers'],
    ({ detail, workers }) =>
      `no file names these feeds any more, so they are at rest: ${detail}${workers === 0 ? '' : `; ${counted(workers, 'other start')} of this deployment at work: if its file differs, name its deployment otherwise`}`,
  ),
  'sync.beside': define('info', ['detail'], 'waits for feeds that others read: {detail}'),
  'http.listening': define('info', ['url'], '{url}'),
  'start.stopped': define('info', [], 'progress is saved; the next start resumes'),
  'start.failed': define('error', ['problems'], '{problems}'),
  'feed.updated': define(
    'info',
    ['feed', 'lane', 'added', 'changed', 'quarantined', 'pages', 'requests', 'credits', 'seconds'],
    ({ feed, lane, added, changed, quarantined, pages, seconds }) =>
      [
        `${laneText(feed, lane)}: ${counted(added, 'new', 'new')}`,
        ...(changed === 0 ? [] : [counted(changed, 'changed', 'changed')]),
        ...(quarantined === 0 ? [] : [`${counted(quarantined, 'item')} in quarantine`]),
        counted(pages, 'page'),
        duration(seconds),
      ].join(', '),
  ),
  'feed.reading': define(
    'info',
    ['feed', 'lane', 'items', 'pages', 'seconds'],
    ({ feed, lane, items, pages, seconds }) =>
      `${laneText(feed, lane)}: ${counted(items, 'item')}, ${counted(pages, 'page')} in ${duration(seconds)}, and goes on`,
  ),
  'feed.polled': define(
    'debug',
    ['feed', 'lane', 'pages', 'requests', 'credits', 'seconds'],
    ({ feed, lane, pages, seconds }) =>
      `${laneText(feed, lane)}: nothing new, ${counted(pages, 'page')}, ${duration(seconds)}`,
  ),
  'feed.drift': define(
    'warn',
    ['feed', 'lane', 'ways', 'kind', 'path', 'detail', 'page'],
    ({ feed, ways, kind, path, detail }) =>
      `${feed}: items differ in ${counted(ways, 'new way')}, such as ${kind} ${path}${detail === '' ? '' : ` (${detail})`}. verify lists them.`,
  ),
  'feed.failure': feedFailure('warn'),
  'feed.failed': feedFailure('error'),
  'feed.internal-error': define(
    'error',
    ['feed', 'lane', 'reason', 'stack'],
    '{feed}: failed: {reason}',
    { repeats: 'feed' },
  ),
  'key.waiting': keyFailure('warn', 'Its feeds go on by themselves.'),
  'key.refused': keyFailure('error', 'Set a key that the explorer accepts, and start again.'),
  'key.accepted': define('info', ['variable', 'was'], '{variable}: works again, was {was}', {
    ends: 'variable',
  }),
  'explorer.unencrypted': define('warn', ['problem'], '{problem}'),
  'chain.unknown': define(
    'error',
    ['chain', 'problem'],
    'chain {chain}: {problem}. Check its number, or remove it from the configuration.',
    { repeats: 'chain' },
  ),
  'feed.recovered': define('info', ['feed', 'was', 'reason'], '{feed}: works again, was {was}', {
    ends: 'feed',
  }),
  'feed.source-mismatch': define(
    'warn',
    ['feed', 'lane'],
    '{feed}: is read from another explorer since; this process makes no request for it',
    { repeats: 'feed' },
  ),
  'explorer.unreachable': define(
    'warn',
    ['url', 'failure', 'problem'],
    '{url}: {failure}: {problem}. One request at a time tests it for all feeds.',
    { repeats: 'url' },
  ),
  'explorer.back': define('info', ['url'], '{url}: answers again', { ends: 'url' }),
  'slice.started': define('debug', ['feed', 'lane'], '{feed} ({lane}): started'),
  'slice.done': define(
    'debug',
    ['feed', 'lane', 'ms', 'outcome'],
    '{feed} ({lane}): {outcome} after {ms} ms',
  ),
  'job.taken-over': define(
    'warn',
    ['queue', 'key'],
    '{key} in {queue}: its worker is gone, another one goes on',
  ),
  'database.embedded': define('info', ['folder'], 'embedded Postgres; its data is in {folder}'),
  'database.locked': define(
    'info',
    ['reason'],
    ({ reason }) => reason ?? 'waits for another process',
  ),
  'database.away': define(
    'warn',
    ['error', 'again_in_ms'],
    ({ error, again_in_ms }) => `again in ${duration(again_in_ms / 1000)}: ${error}`,
    { repeats: 'database' },
  ),
  'database.back': define('info', [], 'it answers again', { ends: 'database' }),
  'process.warning': define('warn', ['problem'], '{problem}'),
  'queue.failure': databaseFailure('warn'),
  'schedule.failure': databaseFailure('warn'),
  'housekeeping.failure': databaseFailure('warn'),
  'sums.failure': databaseFailure('warn'),
  'sums.long': define(
    'info',
    [],
    'the daily tables are being brought up to date; stopped now, it goes on the next time',
  ),
  'archive.expired': define('info', ['pages'], '{pages: archived page} deleted'),
  'ledger.pruned': define(
    'info',
    ['walks', 'pages', 'runs'],
    '{walks: old walk} that brought nothing deleted, with {pages: page}',
  ),
};

type EventName = keyof typeof logEvents;

type EventFields<Event extends EventName> = Parameters<(typeof logEvents)[Event]['says']>[0];

/** The log on stderr: only these events, with their fields. */
export interface Log {
  /** Repeats are counted and logged at growing intervals with `times`, otherwise at debug. */
  write<Event extends EventName>(event: Event, fields: EventFields<Event>): void;
  /** Masks these from now on; what looks like a key or a password always is. */
  conceal(secrets: readonly string[]): void;
}

/** Of `--log-level`, least first, and of `--log-format`. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];
export const logFormats = ['pretty', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

export interface LogStyle {
  readonly format: LogFormat;
  readonly isColoured: boolean;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

const plainStyle: LogStyle = { format: 'pretty', isColoured: false, now: () => performance.now() };

const colours = { debug: 'quiet', info: 'good', warn: 'warning', error: 'bad' } as const;

/** A log that passes lines of the level and above to `write`, each with its line end. */
export function createLog(
  minimum: LogLevel,
  write: (line: string) => void,
  style: LogStyle = plainStyle,
): Log {
  const lineOf = style.format === 'json' ? jsonLine : prettyLine;
  const repeats = countRepeats(style.now);
  const secrets = new Set<string>();
  let redact = createRedactor([]);
  const clean = (text: string) => withoutPasswords(redact(text));
  return {
    write(event, given) {
      const values = cleanFields(given, clean);
      const { isLogged, times } = countOf(event, values, repeats) ?? { isLogged: true };
      const level = isLogged ? logEvents[event].level : 'debug';
      if (logLevels.indexOf(level) < logLevels.indexOf(minimum)) return;
      const fields = { ...values, ...(times !== undefined && { times }) };
      write(`${lineOf({ level, event, fields, says: sentenceOf(event, fields) }, style)}\n`);
    },
    conceal(more) {
      for (const secret of more) secrets.add(secret);
      redact = createRedactor([...secrets]);
    },
  };
}

/** Redacts foreign fields; the program's own cannot hold a secret. */
function cleanFields(given: Values, clean: (text: string) => string): Values {
  const cleanValue = (value: unknown): unknown => {
    if (typeof value === 'string') return clean(value);
    return Array.isArray(value) ? value.map(cleanValue) : value;
  };
  const entries = Object.entries(given);
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      foreign.has(schemaOfField(name)) ? cleanValue(value) : value,
    ]),
  );
}

function countOf(event: EventName, values: Values, counter: ReturnType<typeof countRepeats>) {
  const { repeats, ends } = logEvents[event];
  const nameOf = (trouble: Trouble) => `${trouble} ${String(values[trouble])}`;
  if (ends !== undefined) return counter.end(nameOf(ends));
  if (repeats === undefined) return null;
  return counter.count(nameOf(repeats), `${event} ${String(values['failure'])}`);
}

interface Line {
  readonly level: (typeof logEvents)[EventName]['level'];
  readonly event: EventName;
  readonly fields: Values;
  readonly says: string;
}

/** Escapes what JSON allows and a terminal would obey; the meaning stays. */
const jsonLine = ({ level, event, fields, says: msg }: Line): string =>
  printableLines(JSON.stringify({ level, time: new Date().toISOString(), ...fields, event, msg }));

/** `time LEVEL: event  sentence`, then the stack if any, with the local time. */
function prettyLine({ level, event, fields, says }: Line, style: LogStyle): string {
  const [time] = new Date().toTimeString().split(' ');
  const label = paint(style, colours[level], level.toUpperCase());
  const { stack } = fields;
  const frames = typeof stack === 'string' ? ` ${stack.replaceAll('\n', ' ')}` : '';
  return `${time} ${label}: ${paint(style, 'strong', event)}  ${printable(says + frames)}`;
}

function countedText(event: EventName, times: number): string {
  if (logEvents[event].ends !== undefined)
    return times === 0 ? '' : ` after ${counted(times, 'failure')}`;
  return times > 1 ? ` (${whole(times)} times)` : '';
}

function sentenceOf(event: EventName, values: Values): string {
  // TypeScript cannot match a union of functions with the event's own fields.
  const says = logEvents[event].says as (fields: Values, atMs: number) => string;
  return `${says(values, Date.now())}${countedText(event, Number(values['times'] ?? 0))}`;
}

/** Doubled after each line, up to the longest. */
const firstIntervalMs = 60_000;
const longestIntervalMs = 60 * 60_000;
/** Feeds of one key recover within such a time, after the longest pause of each. */
const recoveryMs = 20 * 60_000;

interface Repeat {
  times: number;
  /** When it is logged again. */
  dueMs: number;
  intervalMs: number;
}

/** Counts repeated failures, which are logged at growing intervals. `now` is monotonic, in ms. */
export function countRepeats(now: () => number) {
  const troubles = new Map<string, { kinds: Map<string, Repeat>; endedMs: number }>();
  const recall = (name: string) => {
    const trouble = troubles.get(name) ?? { kinds: new Map<string, Repeat>(), endedMs: -Infinity };
    troubles.set(name, trouble);
    return trouble;
  };
  return {
    count(name: string, kind: string) {
      const { kinds } = recall(name);
      const repeat = kinds.get(kind) ?? { times: 0, dueMs: 0, intervalMs: firstIntervalMs };
      kinds.set(kind, repeat);
      repeat.times += 1;
      const isLogged = repeat.times === 1 || now() >= repeat.dueMs;
      if (isLogged) {
        repeat.dueMs = now() + repeat.intervalMs;
        repeat.intervalMs = Math.min(2 * repeat.intervalMs, longestIntervalMs);
      }
      return { isLogged, times: repeat.times };
    },
    /** Logged once for all feeds of a key, also if another process saw it fail. */
    end(name: string) {
      const trouble = recall(name);
      const times = [...trouble.kinds.values()].reduce((sum, repeat) => sum + repeat.times, 0);
      const isLogged = times > 0 || now() - trouble.endedMs > recoveryMs;
      trouble.kinds.clear();
      trouble.endedMs = now();
      return { isLogged, times };
    },
  };
}
