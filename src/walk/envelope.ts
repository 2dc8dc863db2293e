import { z } from 'zod';
import { excerpt } from '../explorer/response.ts';
import type { Cursor, Operation } from '../operations/operation.ts';
import { createRedactor } from '../redact.ts';

/** A page as served: its items untouched, and the declared fields of its next cursor. */
export interface Envelope {
  readonly items: readonly unknown[];
  /** The next page's cursor; null where the list ends, or where `unreadable` says why not. */
  readonly next: Cursor | null;
  /** What is wrong with a cursor that is there but is none of this operation's. */
  readonly unreadable: string | null;
}

/** The spec's table 2.1. `next_page_params` null or `{}` means the end; a page without it is malformed. */
const envelope = z.looseObject({
  items: z.array(z.unknown()),
  next_page_params: z.looseObject({}).nullable(),
});

/** The body of an answer is no page of this operation. */
export class EnvelopeError extends Error {
  override readonly name = 'EnvelopeError';
}

/**
 * Reads a page's envelope. Fields of `next_page_params` that the operation does not declare, such
 * as an echoed `key`, are left behind here and go no further. A cursor that can't be read does not
 * make the page's items worthless: they are kept, and the walk says that it could not go on.
 *
 * @throws EnvelopeError naming the field that is wrong, with the beginning of the body as evidence
 */
export function readEnvelope(operation: Operation, body: unknown): Envelope {
  const page = envelope.safeParse(body);
  if (!page.success)
    throw new EnvelopeError(`${describe(page.error)}; it begins ${evidence(body)}`);
  const { items, next_page_params: next } = page.data;
  if (next === null || Object.keys(next).length === 0) {
    return { items, next: null, unreadable: null };
  }
  const cursor = operation.cursor.safeParse(next);
  return cursor.success
    ? { items, next: cursor.data, unreadable: null }
    : { items, next: null, unreadable: describe(cursor.error) };
}

/** The start of what came instead of a page. The keys of ours are masked in it since it arrived. */
const evidence = (body: unknown) => excerpt(JSON.stringify(body), createRedactor([]));

const describe = (error: z.ZodError) =>
  error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`).join('; ');
