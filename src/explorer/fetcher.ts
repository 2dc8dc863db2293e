import { failures } from '../failure.ts';
import { signals } from '../signals.ts';
import { type Budget, type BudgetLane, creditsPerRequest } from './budget.ts';
import type { ExplorerClient, ExplorerRequest, Reply } from './client.ts';
import { ExplorerError } from './error.ts';
import type { Page } from './response.ts';

/** A page, and facts of its request. */
export interface FetchedPage extends Page, Pick<Reply, 'latencyMs'> {
  /** Orders the page among all observations. */
  readonly page_id: number;
  /** When the request was admitted, on the database's clock. */
  readonly at: string;
  /** Requests sent, the successful one included. */
  readonly attempts: number;
}

/** A key's client and budget. */
interface KeyedClient {
  readonly client: ExplorerClient;
  readonly budget: Budget;
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
  return <Result>(list: string, page_id: number, result: Result | ExplorerError) => {
    if (!(result instanceof ExplorerError)) {
      refused.delete(list);
      for (const [other, last] of refused) {
        // An answer says how it was when it was requested.
        if (last.page_id < page_id) refused.set(other, { ...last, isRefuted: true });
      }
      return result;
    }
    const { failure, status, detail, retryAfterMs } = result;
    const isOfKey = failures[failure].nextTry === 'poll';
    if (!isOfKey && (failure !== 'forbidden' || status !== 403)) return result;
    const isRefuted = refused.get(list)?.isRefuted ?? false;
    refused.set(list, { page_id, isRefuted });
    const agree = [...refused.values()].filter((other) => !other.isRefuted).length;
    const isFact = !isRefuted && (isOfKey || agree >= agreeing);
    if (isFact === isOfKey) return result;
    const judged = isFact ? 'unauthorized' : 'forbidden';
    return new ExplorerError({ failure: judged, status, detail, retryAfterMs });
  };
}

/**
 * Gets pages within the key's budget, with retries. Throws ExplorerError, what the budget throws, or the signal's
 * reason.
 */
export function createFetcher({ client, budget, by }: KeyedClient) {
  const judge = openJudgement();
  return async (request: PageRequest, signal: AbortSignal): Promise<FetchedPage> => {
    const { chainId: chain_id, operation, lane, isRecheck = false, isProbe = false } = request;
    const labels = { by, chain_id, operation, lane };
    const sending = { signal, isRecheck };
    let attempts = 0;
    const attempt = async (): Promise<FetchedPage> => {
      const slot = await budget.take(lane, signal);
      const { result: found, limits, latencyMs } = await client.send(request, sending);
      const result = judge(`${chain_id}/${operation}`, slot.page_id, found);
      const error = result instanceof ExplorerError ? result : null;
      const isSent = error?.isSent ?? true;
      const credits = isSent ? creditsPerRequest : 0;
      const outcome = error?.failure ?? 'ok';
      signals.emit('request', { ...labels, outcome, ms: latencyMs, credits });
      attempts += Number(isSent);
      if (error !== null) request.onFailure?.(error);
      // A 403 stops no other list: where lists agree, each one says so, and continues.
      const isForbidden = found instanceof ExplorerError && found.failure === 'forbidden';
      await budget.report({ slot, error: isForbidden ? found : error, limits });
      if (result instanceof ExplorerError) throw result;
      const { page_id, at } = slot;
      return { page_id, at, ...result, attempts, latencyMs };
    };
    try {
      return await (isProbe ? attempt() : client.repeat(attempt, sending));
    } catch (error) {
      if (error instanceof ExplorerError) signals.emit('miss', labels);
      throw error;
    }
  };
}
