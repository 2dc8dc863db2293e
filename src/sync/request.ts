import { z } from 'zod';
import type { Database } from '../db/transaction.ts';
import { ExplorerError } from '../explorer/error.ts';
import type { createFetcher } from '../explorer/fetcher.ts';
import { excerpt } from '../explorer/response.ts';
import type { Cursor, Operation, OrderKey } from '../lists/operation.ts';
import type { WalkRow } from '../lists/tables.ts';
import { createRedactor } from '../redact.ts';
import type { ArchiveMode } from './ledger.ts';
import { digest, type PageFacts } from './normalise.ts';
import type { TimedPlace } from './order.ts';

/** Requests a page by lane, path and declared query parameters; the query never holds a key. */
export type FetchPage = ReturnType<typeof createFetcher>;

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
  /** The walk's current stop height: a walk that takes over a part of this one raises it. */
  readonly floor: () => number | null;
}

/** Where a walk's next page is read. */
export interface Step {
  readonly cursor: Cursor | null;
  readonly sequence: number;
  readonly position: number;
  readonly emptyRun: number;
  /** The previous page's last item in order; null at the start and after a cut. */
  readonly above: OrderKey | null;
  /** After empty pages, the position at which the first was requested: the list continues there. */
  readonly expected: OrderKey | null;
  /** Earlier items that report their time, at most a page of them; null: not known yet. */
  readonly timed: readonly TimedPlace[] | null;
}

export interface ServedPage {
  readonly facts: PageFacts;
  readonly envelope: Envelope;
  readonly body: Buffer;
}

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

/** A page's items as served, and the declared fields of its next cursor. */
export interface Envelope {
  readonly items: readonly unknown[];
  /** The next page's cursor; null at the list's end, or if it is `unreadable`. */
  readonly next: Cursor | null;
  /** Why a cursor that is present is not this operation's. */
  readonly unreadable: string | null;
}

/** The spec's table 2.1: `next_page_params` null or `{}` is the end; without it, malformed. */
const envelope = z.looseObject({
  items: z.array(z.unknown()),
  next_page_params: z.looseObject({}).nullable(),
});

/**
 * Reads a page's envelope. Undeclared fields of `next_page_params`, such as an echoed `key`, are dropped here. A page
 * whose cursor is unreadable keeps its items.
 * @throws ExplorerError 'envelope-invalid' naming the wrong field and quoting the body's beginning
 */
function readEnvelope(operation: Operation, body: unknown): Envelope {
  const page = envelope.safeParse(body);
  if (!page.success) {
    const detail = `${describe(page.error)}; it begins ${evidence(body)}`;
    throw new ExplorerError({ failure: 'envelope-invalid', status: null, detail });
  }
  const { items, next_page_params: next } = page.data;
  if (next === null || Object.keys(next).length === 0) {
    return { items, next: null, unreadable: null };
  }
  const cursor = operation.cursor.safeParse(next);
  return cursor.success
    ? { items, next: cursor.data, unreadable: null }
    : { items, next: null, unreadable: describe(cursor.error) };
}

/** The body's beginning; the fetcher has masked our keys in it. */
const evidence = (body: unknown) => excerpt(JSON.stringify(body), createRedactor([]));

const describe = (error: z.ZodError) =>
  error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`).join('; ');
