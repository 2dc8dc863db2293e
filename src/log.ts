import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import type Pretty from 'pino-pretty';
import { events, kindOfField, type EventFields, type EventName, type Trouble } from './events.ts';
import { printable, printableLines } from './printable.ts';
import { createRedactor, withoutPasswords } from './redact.ts';
import { counted, whole } from './terminal/numbers.ts';

/** The log on stderr: only events of src/events.ts, with their fields. */
export interface Log {
  /** Repeats are counted and logged at growing intervals with `times`, otherwise at debug. */
  write<Event extends EventName>(event: Event, fields: EventFields<Event>): void;
  /** Masks these from now on; what looks like a key or a password always is. */
  conceal(secrets: readonly string[]): void;
}

/** From `--log-level` and `--log-format`. */
export type LogLevel = (typeof events)[EventName]['level'] | 'silent';
export type LogFormat = 'pretty' | 'json';

export interface LogStyle {
  readonly format: LogFormat;
  readonly isColoured: boolean;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

const plainStyle: LogStyle = { format: 'pretty', isColoured: false, now: () => performance.now() };

type Values = Readonly<Record<string, unknown>>;

/** A log that passes lines of the level and above to `write`, each with its line end. */
export function createLog(
  minimum: LogLevel,
  write: (line: string) => void,
  style: LogStyle = plainStyle,
): Log {
  const logger = openLogger(minimum, write, style);
  const repeats = countRepeats(style.now);
  const secrets = new Set<string>();
  let redact = createRedactor([]);
  const clean = (text: string) => withoutPasswords(redact(text));
  return {
    write(event, given) {
      const values = cleanFields(given, clean);
      const { isLogged, times } = countOf(event, values, repeats) ?? { isLogged: true };
      const fields = { ...values, ...(times !== undefined && { times }) };
      const level = isLogged ? events[event].level : 'debug';
      logger[level]({ ...fields, event }, sentenceOf(event, fields));
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
    entries.map(([name, value]) => [name, isForeign(name) ? cleanValue(value) : value]),
  );
}

const isForeign = (name: string) => kindOfField(name).startsWith('text');

function countOf(event: EventName, values: Values, repeats: ReturnType<typeof countRepeats>) {
  const { repeats: rule, ends } = events[event];
  const nameOf = (trouble: Trouble) => `${trouble} ${String(values[trouble])}`;
  if (ends !== undefined) return repeats.end(nameOf(ends));
  if (rule === undefined) return null;
  const kindOf = (same: readonly string[]) =>
    JSON.stringify([event, ...same.map((field) => values[field])]);
  // There are few names; texts may be invented without end.
  const group = kindOf(rule.same.filter((field) => !isForeign(field)));
  return repeats.count(nameOf(rule.of), kindOf(rule.same), group);
}

function openLogger(level: LogLevel, write: (line: string) => void, style: LogStyle) {
  const options = { level, base: null };
  if (style.format === 'json') {
    const json = {
      ...options,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label: string) => ({ level: label }) },
    };
    // Escapes what JSON allows and a terminal would obey; the meaning stays.
    return pino(json, { write: (line) => write(printableLines(line)) });
  }
  return pino(options, prettyLines(write, style));
}

/** `time LEVEL: event sentence`, one line per event, then the stack if any. */
function prettyLines(write: (line: string) => void, { isColoured }: LogStyle) {
  // Its thirty files are a tenth of a start: they are read where a terminal shows a log.
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof Pretty;
  return pretty({
    colorize: isColoured,
    include: 'time,level',
    translateTime: 'SYS:HH:MM:ss',
    customPrettifiers: { time: String },
    messageFormat: (line, _key, _level, { colors }) => {
      const { event, msg, stack = '' } = line;
      const frames = String(stack).replaceAll('\n', ' ');
      return `${colors.bold(String(event))}  ${printable(`${String(msg)} ${frames}`.trimEnd())}`;
    },
    destination: new Writable({
      decodeStrings: false,
      write(line: string, _encoding, done) {
        write(line);
        done();
      },
    }),
    sync: true,
  });
}

function countedText(event: EventName, times: number): string {
  if (events[event].ends !== undefined)
    return times === 0 ? '' : ` after ${counted(times, 'failure')}`;
  return times > 1 ? ` (${whole(times)} times)` : '';
}

function sentenceOf(event: EventName, values: Values): string {
  // TypeScript cannot match a union of functions with the event's own fields.
  const says = events[event].says as (fields: Values, atMs: number) => string;
  return `${says(values, Date.now())}${countedText(event, Number(values['times'] ?? 0))}`;
}

/** For so long a failure is the same: twice a feed's longest pause, so a night's outage is one. */
const windowMs = 20 * 60_000;
/** Doubled after each line, up to the longest. */
const firstIntervalMs = 60_000;
const longestIntervalMs = 60 * 60_000;
/** A service may invent reasons without end: beyond this many, each class is one kind. */
const mostKinds = 20;
/** Some for each feed of a large configuration; the oldest is forgotten. */
const mostTroubles = 1_000;

interface Repeat {
  times: number;
  lastMs: number;
  loggedMs: number;
  intervalMs: number;
}

interface TroubleState {
  readonly kinds: Map<string, Repeat>;
  /** Null: it is over. */
  failingSinceMs: number | null;
  isLoggedFailing: boolean;
  endedMs: number;
}

/** Counts repeated failures, which are logged at growing intervals. `now` is monotonic, in ms. */
export function countRepeats(now: () => number) {
  const troubles = new Map<string, TroubleState>();
  return {
    /** Failures are the same if `what` is, digits aside; too many kinds are counted by `group`. */
    count(name: string, what: string, group = '') {
      const trouble = recall(troubles, name);
      for (const [kind, { lastMs }] of trouble.kinds) {
        if (now() - lastMs > windowMs) trouble.kinds.delete(kind);
      }
      trouble.failingSinceMs ??= now();
      const repeat = repeatOf(trouble, what.replaceAll(/\d+/gu, '0'), group);
      repeat.times += 1;
      repeat.lastMs = now();
      const isLogged = now() - repeat.loggedMs >= repeat.intervalMs || isBackToStay(trouble, now());
      if (isLogged) {
        repeat.intervalMs =
          repeat.times === 1 ? firstIntervalMs : Math.min(2 * repeat.intervalMs, longestIntervalMs);
        repeat.loggedMs = now();
        trouble.isLoggedFailing = true;
      }
      return { isLogged, times: repeat.times };
    },
    /** Logged if the last line reports a failure, or if nothing is known for 20 minutes. */
    end(name: string) {
      const trouble = recall(troubles, name);
      // Without a kind, another process saw it fail: a key's first feed to recover reports it.
      const isSeen = trouble.kinds.size > 0;
      const isLogged = isSeen ? trouble.isLoggedFailing : now() - trouble.endedMs > windowMs;
      // Kinds stay: a failure within a minute goes on being counted.
      if (!isSeen) trouble.endedMs = now();
      trouble.isLoggedFailing = false;
      trouble.failingSinceMs = null;
      const times = [...trouble.kinds.values()].reduce((sum, repeat) => sum + repeat.times, 0);
      return { isLogged, times };
    },
  };
}

/** The trouble of a name, moved to the end or created; the oldest is forgotten. */
function recall(troubles: Map<string, TroubleState>, name: string): TroubleState {
  const unknown = { failingSinceMs: null, isLoggedFailing: false, endedMs: -Infinity };
  const trouble = troubles.get(name) ?? { kinds: new Map(), ...unknown };
  troubles.delete(name);
  troubles.set(name, trouble);
  const [oldest] = troubles.keys();
  if (troubles.size > mostTroubles && oldest !== undefined) troubles.delete(oldest);
  return trouble;
}

/** Whether it fails again, after a line said that it is over, for longer than a moment. */
const isBackToStay = ({ isLoggedFailing, failingSinceMs }: TroubleState, nowMs: number) =>
  !isLoggedFailing && failingSinceMs !== null && nowMs - failingSinceMs >= firstIntervalMs;

function repeatOf({ kinds }: TroubleState, what: string, group: string): Repeat {
  const kind = kinds.has(what) || kinds.size < mostKinds ? what : group;
  const repeat = kinds.get(kind) ?? { times: 0, lastMs: 0, loggedMs: -Infinity, intervalMs: 0 };
  kinds.set(kind, repeat);
  return repeat;
}
