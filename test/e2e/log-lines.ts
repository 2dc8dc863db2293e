import { expect } from 'vitest';
import { z } from 'zod';
import { logEvents, schemaOfField } from '../../src/log.ts';

/** What a line of an event is, as src/log.ts says, and nothing else. */
const schemas = new Map(
  Object.entries(logEvents).map(([name, { level, fields, repeats, ends }]) => [
    name,
    z.strictObject({
      time: z.iso.datetime(),
      // Between, what repeats is logged at debug.
      level: (repeats ?? ends) ? z.enum([level, 'debug']) : z.literal(level),
      event: z.literal(name),
      msg: z.string().min(1),
      ...Object.fromEntries(fields.map((field) => [field, schemaOfField(field)])),
      ...((repeats ?? ends) && { times: z.number() }),
    }),
  ]),
);

/** A line of the log as programs read it. */
export type LogLine = Readonly<Record<string, unknown>> & {
  readonly event: keyof typeof logEvents;
};

/** What stderr holds, each line of which has to be a known event with all its fields. */
export function logLines(stderr: string): LogLine[] {
  const whole = stderr.slice(0, stderr.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .slice(0, -1)
    .map((text) => {
      const line = z.looseObject({ event: z.string() }).parse(JSON.parse(text));
      const schema = schemas.get(line.event);
      expect(schema, `${line.event} is an event`).toBeDefined();
      return schema?.parse(line) as LogLine;
    });
}
