import { z } from 'zod';
import { failures, type FailureClass } from '../failure.ts';

/** Parts that several documents have. All are described: the schemas are read by people too. */

export const instant = z.string().describe('ISO 8601.');
/** A time, or null; what it is of, is said. */
export const instantOrNull = (what: string) => z.string().nullable().describe(`${what} ISO 8601.`);
export const count = (what: string) => z.int().min(0).describe(what);
export const countOrNull = (what: string) => z.int().min(0).nullable().describe(what);
export const seconds = (what: string) => z.number().describe(`${what} In seconds.`);
export const secondsOrNull = (what: string) =>
  z.number().nullable().describe(`${what} In seconds.`);
export const feedName = z.string().describe('Name of the feed, such as 10/user-operations.');
export const failure = z
  .enum(Object.keys(failures) as [FailureClass, ...FailureClass[]])
  .nullable()
  .describe('Class of the failure. Null: none, or of no class.');
export const said = z
  .string()
  .nullable()
  .describe('What happened, for people. Null: nothing was said.');
export const unit = z.enum(['blocks', 'batches']).describe('What is counted.');
