import { Writable } from 'node:stream';
import { pino } from 'pino';
import pretty from 'pino-pretty';
import {
  events,
  fields as fieldKinds,
  type EventFields,
  type EventName,
  type FieldName,
  type Trouble,
} from './events.ts';
import type { LogFormat, LogLevel } from './log-levels.ts';
import { printable, printableLines } from './printable.ts';
import { createRedactor, withoutPasswords } from './redact.ts';
import { counted, whole } from './terminal/numbers.ts';

/** What happened, on stderr: only events of src/events.ts, and only with their fields. */
export interface Log {
  /** What repeats is counted: logged the first time and at growing intervals, with `times`; else at debug. */
  write<Event extends EventName>(event: Event, fields: EventFields<Event>): void;
  /** Replaces these in all lines from now on; what looks like a key or a password always is. */
  conceal(secrets: readonly string[]): void;
}

/** How lines look. */
export interface LogStyle {
  readonly format: LogFormat;
  readonly isColoured: boolean;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

const plainStyle: LogStyle = { format: 'pretty', isColoured: false, now: () => performance.now() };

type Values = Readonly<Record<string, unknown>>;

/** A log whose lines of the level and above, in this style, go to `write`, each with its end of line. */
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

/** What comes from elsewhere, without secrets; what the program itself says cannot hold one. */
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

const isForeign = (name: string) =>
  name in fieldKinds && fieldKinds[name as FieldName].startsWith('text');

/** The field that names what a trouble is of. */
const whoseOf: Readonly<Record<Trouble, FieldName | null>> = {
  feed: 'feed',
  key: 'variable',
  chain: 'chain',
  database: null,
};

function countOf(event: EventName, values: Values, repeats: ReturnType<typeof countRepeats>) {
  const { repeats: rule, ends } = events[event];
  const nameOf = (trouble: Trouble) => {
    const whose = whoseOf[trouble];
    return whose === null ? trouble : `${trouble} ${String(values[whose])}`;
  };
  if (ends !== undefined) return repeats.end(nameOf(ends));
  if (rule === undefined) return null;
  const kindOf = (same: readonly string[]) =>
    JSON.stringify([event, ...same.map((field) => values[field])]);
  // Of names there are few; texts may be invented without end.
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
    // What JSON leaves as it is and a terminal would obey is escaped too: the line means what it meant.
    return pino(json, { write: (line) => write(printableLines(line)) });
  }
  return pino(options, prettyLines(write, style));
}

/** `time LEVEL: event what it says`, one plain line per event; a stack goes behind its sentence. */
function prettyLines(write: (line: string) => void, { isColoured }: LogStyle) {
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
  // Of a union of functions TypeScript wants what all of them take; these are the event's own fields.
  const says = events[event].says as (fields: Values, atMs: number) => string;
  return `${says(values, Date.now())}${countedText(event, Number(values['times'] ?? 0))}`;
}

/**
 * A failure counts as the same one for so long after its last time: twice the longest pause of a feed that fails, so
 * that an outage of a night is one.
 */
const windowMs = 20 * 60_000;
/** Until the next line about a failure; doubled each time, up to the longest. */
const firstIntervalMs = 60_000;
const longestIntervalMs = 60 * 60_000;
/** Different failures of one trouble; a service may invent reasons without end, and then each class is one more. */
const mostKinds = 20;
/** Some for each feed of a large configuration. The oldest is forgotten. */
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
  /** Whether the last line about it says that it fails. */
  isLoggedFailing: boolean;
  endedMs: number;
}

/** Whether something is logged now, and how often it happened. */
interface Count {
  readonly isLogged: boolean;
  readonly times: number;
}

/**
 * Counts what fails again and again, so that it is logged at growing intervals and not each time.
 *
 * @param now monotonic, in ms
 */
export function countRepeats(now: () => number) {
  const troubles = new Map<string, TroubleState>();
  return {
    /**
     * @param what two failures are the same if this is, digits aside
     * @param group counted as one if there are too many kinds
     */
    count(name: string, what: string, group = ''): Count {
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
    /** The end is logged if the last line says that it fails, or if nothing is known of it for 20 minutes. */
    end(name: string): Count {
      const trouble = recall(troubles, name);
      // Without a kind only another process saw it fail: each of a key's feeds recovers, and the first one says so.
      const isSeen = trouble.kinds.size > 0;
      const isLogged = isSeen ? trouble.isLoggedFailing : now() - trouble.endedMs > windowMs;
      // Its kinds stay: one that fails again in a minute goes on being counted.
      if (!isSeen) trouble.endedMs = now();
      trouble.isLoggedFailing = false;
      trouble.failingSinceMs = null;
      return {
        isLogged,
        times: [...trouble.kinds.values()].reduce((sum, { times }) => sum + times, 0),
      };
    },
  };
}

/** The trouble of a name, a new one if it is unknown. It becomes the last one; the first is forgotten. */
function recall(troubles: Map<string, TroubleState>, name: string): TroubleState {
  const unknown = { failingSinceMs: null, isLoggedFailing: false, endedMs: -Infinity };
  const trouble = troubles.get(name) ?? { kinds: new Map(), ...unknown };
  troubles.delete(name);
  troubles.set(name, trouble);
  const [oldest] = troubles.keys();
  if (troubles.size > mostTroubles && oldest !== undefined) troubles.delete(oldest);
  return trouble;
}

/** Whether the last log line says that it is over, and it fails again for longer than a moment. */
const isBackToStay = ({ isLoggedFailing, failingSinceMs }: TroubleState, nowMs: number) =>
  !isLoggedFailing && failingSinceMs !== null && nowMs - failingSinceMs >= firstIntervalMs;

function repeatOf({ kinds }: TroubleState, what: string, group: string): Repeat {
  const kind = kinds.has(what) || kinds.size < mostKinds ? what : group;
  const repeat = kinds.get(kind) ?? { times: 0, lastMs: 0, loggedMs: -Infinity, intervalMs: 0 };
  kinds.set(kind, repeat);
  return repeat;
}
