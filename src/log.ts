import { Writable } from 'node:stream';
import { pino, type Level, type Logger } from 'pino';
import pretty from 'pino-pretty';
import { fields as fieldRules, type FieldName, type Trouble } from './event-fields.ts';
import { events, type EventFields, type EventName } from './events.ts';
import type { LogFormat, LogLevel } from './log-levels.ts';
import { printable, printableLines } from './printable.ts';
import { createRedactor, withoutPasswords } from './redact.ts';
import { countRepeats, type Repeats } from './repeats.ts';
import { counted, whole } from './terminal/numbers.ts';

/** What happened, told on stderr: only events of src/events.ts, and only with their fields. */
export interface Log {
  /** What repeats is counted: told the first time and at growing intervals, with `times`; else at debug. */
  tell<Event extends EventName>(event: Event, fields: EventFields<Event>): void;
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

/** As a person reads them in a file. */
const plainStyle: LogStyle = {
  format: 'pretty',
  isColoured: false,
  now: () => performance.now(),
};

type Values = Readonly<Record<string, unknown>>;

/** A log whose lines of `level` and above, in this style, are given to `write`, each with its end of line. */
export function createLog(
  level: LogLevel,
  write: (line: string) => void,
  style: LogStyle = plainStyle,
): Log {
  const logger = openLogger(level, write, style);
  const repeats = countRepeats(style.now);
  const secrets = new Set<string>();
  let redact = createRedactor([]);
  const clean = (text: string) => withoutPasswords(redact(text));
  return {
    tell(event, given) {
      const values = cleanFields(given, clean);
      const count = countOf(event, values, repeats);
      const times = count === null ? {} : { times: count.times };
      const isTold = count === null || count.isTold;
      const fields = { ...values, ...times };
      const told = isTold ? events[event].level : 'debug';
      logger[told]({ ...fields, event }, sentenceOf(event, fields));
    },
    conceal(more) {
      for (const secret of more) secrets.add(secret);
      redact = createRedactor([...secrets]);
    },
  };
}

/** What comes from elsewhere, without secrets; what the program itself says cannot hold one. */
function cleanFields(given: Values, clean: (text: string) => string): Values {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      isForeign(name) ? cleanText(value, clean) : value,
    ]),
  );
}

const isForeign = (name: string) =>
  name in fieldRules && fieldRules[name as keyof typeof fieldRules].holds.startsWith('text');

function cleanText(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  return Array.isArray(value) ? value.map((one) => cleanText(one, clean)) : value;
}

/** The field that names what a trouble is of. */
const whoseOf: Readonly<Record<Trouble, FieldName | null>> = {
  feed: 'feed',
  key: 'variable',
  chain: 'chain',
  database: null,
};

function countOf(event: EventName, values: Values, repeats: Repeats) {
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

function openLogger(
  level: LogLevel,
  write: (line: string) => void,
  style: LogStyle,
): Logger<Level> {
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
