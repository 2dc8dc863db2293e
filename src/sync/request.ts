import { z } from 'zod';
import type { Database } from '../db/transaction.ts';
import type { FetchedPage } from '../explorer/fetcher.ts';
import { excerpt } from '../explorer/response.ts';
import type { Cursor, Operation, OrderKey } from '../lists/operation.ts';
import type { Lane, WalkRow } from '../lists/tables.ts';
import { createRedactor } from '../redact.ts';
import type { ArchiveMode } from './archive.ts';
import { digest, type PageFacts } from './normalise.ts';
import type { TimedPlace } from './order.ts';

/** How the walk asks for a page: for which lane, path and declared query parameters, never a key. */
export type FetchPage = (
  request: {
    readonly chainId: number;
    readonly operation: string;
    readonly lane: Lane;
    readonly path: string;
    readonly query: Cursor;
    /** A re-check: it waits a moment, and uses a connection of its own. */
    readonly isRecheck?: boolean;
  },
  signal: AbortSignal,
) => Promise<FetchedPage>;

/** Says before each request whether the slice may still make it. */
export interface SliceBudget {
  takePage(): boolean;
}

export interface PageReader {
  readonly db: Database;
  readonly operation: Operation;
  readonly fetchPage: FetchPage;
  readonly pageSize: number;
  readonly archive: ArchiveMode;
  readonly budget: SliceBudget;
  /** The walk's floor as it stands now: one that takes over a part of the walk raises it. */
  readonly floor: () => number | null;
}

/** Where a walk's next page is read. */
export interface Step {
  readonly cursor: Cursor | null;
  readonly sequence: number;
  readonly position: number;
  readonly emptyRun: number;
  /** The last item that stands in order, on the page before; null at the start and behind a cut. */
  readonly above: OrderKey | null;
  /** Behind empty pages the position that the first of them was requested at: the list goes on there. */
  readonly expected: OrderKey | null;
  /** The last items before that report their time, a page of them at most; null: not known yet. */
  readonly timed: readonly TimedPlace[] | null;
}

/** A page as it came. */
export interface ServedPage {
  readonly facts: PageFacts;
  readonly envelope: Envelope;
  readonly body: Buffer;
}

/** Requests one page of a walk, and decodes it. */
export async function requestPage(
  walk: WalkRow,
  { operation, fetchPage, pageSize }: PageReader,
  step: Step,
  signal: AbortSignal,
  isRecheck = false,
): Promise<ServedPage> {
  const { chain_id: chainId, lane } = walk;
  const request = operation.request(walk.scope, step.cursor, pageSize);
  const answer = await fetchPage(
    { chainId, operation: walk.operation, lane, ...request, isRecheck },
    signal,
  );
  const envelope = readEnvelope(operation, answer.json);
  const facts: PageFacts = {
    page_id: answer.page_id,
    sequence: step.sequence,
    cursor_in: step.cursor,
    cursor_out: envelope.next,
    items: envelope.items.length,
    bytes: answer.bytes,
    body_hash: digest(answer.body),
    attempts: answer.attempts,
    latency_ms: Math.round(answer.latencyMs),
    fetched_at: answer.at,
  };
  return { facts, envelope, body: answer.body };
}

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
function readEnvelope(operation: Operation, body: unknown): Envelope {
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
