import { events, kindOfField, type EventFields, type EventName, type Trouble } from './events.ts';
import { printable, printableLines } from './printable.ts';
import { createRedactor, withoutPasswords } from './redact.ts';
import { paint } from './terminal/look.ts';
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

/** The levels, least first, and their colours. */
const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];
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
      const level = isLogged ? events[event].level : 'debug';
      if (levels.indexOf(level) < levels.indexOf(minimum)) return;
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
    entries.map(([name, value]) => [name, isForeign(name) ? cleanValue(value) : value]),
  );
}

const isForeign = (name: string) => kindOfField(name).startsWith('text');

function countOf(event: EventName, values: Values, counter: ReturnType<typeof countRepeats>) {
  const { repeats, ends } = events[event];
  const nameOf = (trouble: Trouble) => `${trouble} ${String(values[trouble])}`;
  if (ends !== undefined) return counter.end(nameOf(ends));
  if (repeats === undefined) return null;
  return counter.count(nameOf(repeats), `${event} ${String(values['failure'])}`);
}

interface Line {
  readonly level: (typeof events)[EventName]['level'];
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
  const text = printable(says + frames);
  return `${time} ${label}: ${paint(style, 'strong', event)}  ${text}`;
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
