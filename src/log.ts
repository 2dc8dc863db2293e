import { Writable } from 'node:stream';
import { pino, type Logger } from 'pino';
import pretty from 'pino-pretty';
import type { LogLevel } from './log-levels.ts';
import { printableLines } from './printable.ts';

/** An event name and its fields, written to stderr. Never given a URL, a header or a secret. */
export type Log = Logger;

/**
 * A log that prints one plain line per event, `time LEVEL: event {fields}`, to `write`.
 * What acts on a terminal is escaped, so page text can neither break a line nor colour it.
 */
export function createLog(level: LogLevel, write: (line: string) => void): Log {
  const lines = pretty({
    colorize: false,
    singleLine: true,
    // It would print a field of that name on lines of its own.
    errorLikeObjectKeys: [],
    ignore: 'pid,hostname',
    // With its zone: lines of several machines are read side by side.
    translateTime: "UTC:yyyy-mm-dd'T'HH:MM:ss.l'Z'",
    destination: new Writable({
      decodeStrings: false,
      write(line: string, _encoding, done) {
        write(printableLines(line));
        done();
      },
    }),
    sync: true,
  });
  return pino({ level }, lines);
}
