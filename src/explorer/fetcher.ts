import { type FailureClass, failures } from '../failure.ts';
import { createMask, createRedactor } from '../redact.ts';
import { signals } from '../signals.ts';
import { type Budget, type BudgetLane, creditsPerRequest } from './budget.ts';
import type { ExplorerClient, ExplorerRequest, Reply } from './client.ts';
import { ExplorerError } from './error.ts';
import { notPage, parseBody } from './response.ts';

/** A page with its bytes, value, and facts of the request. */
export interface FetchedPage extends Pick<Reply, 'body' | 'bytes' | 'latencyMs'> {
  /** Orders the page among all observations. */
  readonly page_id: number;
  /** When the request was admitted, on the database's clock. */
  readonly at: string;
  readonly json: unknown;
  /** Requests sent, the successful one included. */
  readonly attempts: number;
}

/** A key's client and budget, and the secrets that no page may keep. */
interface KeyedClient {
  readonly client: ExplorerClient;
  readonly budget: Budget;
  readonly secrets: readonly string[];
  /** Names the engine in its signals (`signals.ts`). */
  readonly by: object;
}

interface PageRequest extends ExplorerRequest {
  readonly operation: string;
  readonly lane: BudgetLane;
  readonly isRecheck?: boolean;
  /** Tests an explorer that fails: one attempt. */
  readonly isProbe?: boolean;
  /** Called for each failed attempt. */
  readonly onFailure?: (error: ExplorerError) => void;
}

/** As many lists of a key must be refused, with no page in between, before a 403 is a fact about the key. */
const agreeing = 2;

/**
 * Judges refusals by the answers to all lists of a key. A 403 is its list's, unless others agree; so are words about
 * the key, if a page came for another list since they were first said to this one.
 * @returns a function that gives the failure of a list its class
 */
function openJudgement() {
  /** Refused lists: the last refused request, and whether a later one for another list got a page. */
  const refused = new Map<string, { readonly page_id: number; readonly isRefuted: boolean }>();
  return (list: string, page_id: number, error: ExplorerError | null): ExplorerError | null => {
    if (error === null) {
      refused.delete(list);
      for (const [other, last] of refused) {
        // An answer says how it was when it was requested.
        if (last.page_id < page_id) refused.set(other, { ...last, isRefuted: true });
      }
      return null;
    }
    const { failure, status, detail, retryAfterMs } = error;
    const isOfKey = failures[failure].nextTry === 'poll';
    if (!isOfKey && (failure !== 'forbidden' || status !== 403)) return error;
    const isRefuted = refused.get(list)?.isRefuted ?? false;
    refused.set(list, { page_id, isRefuted });
    const agree = [...refused.values()].filter((other) => !other.isRefuted).length;
    const isFact = !isRefuted && (isOfKey || agree >= agreeing);
    if (isFact === isOfKey) return error;
    const judged = isFact ? 'unauthorized' : 'forbidden';
    return new ExplorerError({ failure: judged, status, detail, retryAfterMs });
  };
}

/**
 * Gets pages within the key's budget, with retries, and with echoed keys removed. Throws ExplorerError, what the budget
 * throws, or the signal's reason.
 */
export function createFetcher({ client, budget, secrets, by }: KeyedClient) {
  const redact = createRedactor(secrets);
  const withoutEchoes = createEchoFilter(secrets, redact);
  const judge = openJudgement();
  return async (request: PageRequest, signal: AbortSignal): Promise<FetchedPage> => {
    const { chainId: chain_id, operation, lane, isRecheck = false, isProbe = false } = request;
    const labels = { by, chain_id, operation, lane };
    const sending = { signal, isRecheck };
    let attempts = 0;
    const attempt = async (): Promise<FetchedPage> => {
      const slot = await budget.take(lane, signal);
      const { bytes, latencyMs, ...reply } = await client.send(request, sending);
      const error = judge(`${chain_id}/${operation}`, slot.page_id, reply.error);
      const isSent = error?.isSent ?? true;
      if (isSent) attempts += 1;
      else await budget.giveBack(slot);
      let outcome: 'ok' | FailureClass = error?.failure ?? 'ok';
      if (error !== null) request.onFailure?.(error);
      try {
        // A 403 stops no other list: where lists agree, each one says so, and continues.
        const said = reply.error?.failure === 'forbidden' ? reply.error : error;
        await budget.report({ slot, error: said, limits: reply.limits });
        if (error !== null) throw error;
        const { page_id, at } = slot;
        return { page_id, at, ...withoutEchoes(reply.body), bytes, attempts, latencyMs };
      } catch (failure) {
        if (failure instanceof ExplorerError) outcome = failure.failure;
        throw failure;
      } finally {
        const credits = isSent ? creditsPerRequest : 0;
        signals.emit('request', { ...labels, outcome, ms: latencyMs, credits });
      }
    };
    try {
      return await (isProbe ? attempt() : client.repeat(attempt, sending));
    } catch (error) {
      if (error instanceof ExplorerError) signals.emit('miss', labels);
      throw error;
    }
  };
}

/**
 * Returns a function that reads a page and masks the keys in what it decodes to. An echo is looked for as it is, or if
 * the page has the sign of an escape, which few have.
 */
function createEchoFilter(secrets: readonly string[], redact: (text: string) => string) {
  const keys = secrets.filter((key) => key.length >= shortestMasked);
  const hide = createMask(keys);
  const signs = [...keys.map(traceOf), '\\', '%', '&'];
  return (body: Buffer): Pick<FetchedPage, 'body' | 'json'> => {
    const json = readPage(body, redact);
    if (keys.length === 0 || !signs.some((sign) => body.includes(sign))) return { body, json };
    const [raw, decoded] = [body.toString(), JSON.stringify(json)];
    const clean = hide(decoded);
    // Of two fields with one name, only the body has the first.
    if (clean === decoded && hide(raw) === raw) return { body, json };
    const masked = Buffer.from(clean);
    return { body: masked, json: readPage(masked, redact) };
  };
}

/** A failure here fails this attempt only: a cut body may look like a page, and is whole when requested again. */
function readPage(body: Buffer, redact: (text: string) => string): unknown {
  const json = parseBody(body, redact);
  if (lacksNext(json)) throw notPage('the page has no field next_page_params, not even null');
  return json;
}

/** Whether the page lacks its next cursor: a retry may bring a lost field. */
const lacksNext = (json: unknown): boolean =>
  typeof json === 'object' &&
  json !== null &&
  Object.hasOwn(json, 'items') &&
  !Object.hasOwn(json, 'next_page_params');

/** A service that echoes its request repeats our keys. Shorter ones would mask data; none issues such. */
const shortestMasked = 8;

/**
 * The longest part of a key that JSON, HTML, URLs and forms leave unchanged: a cheap search on every page. JSON alone
 * can write a key with odd characters in many ways.
 */
const traceOf = (key: string): string =>
  (key.match(/[\w.-]+/gu) ?? []).reduce(
    (long, part) => (part.length > long.length ? part : long),
    '',
  );
