import { createRedactor } from '../redact.ts';
import { signals } from '../signals.ts';
import type { Budget, BudgetLane } from './budget.ts';
import type { ExplorerClient, ExplorerRequest } from './client.ts';
import { ExplorerError } from './error.ts';
import { parseBody } from './response.ts';
import { creditsPerRequest } from './slot.ts';

/** A page with its bytes, value, and facts of the request. */
export interface FetchedPage {
  /** Orders the page among all observations. */
  readonly page_id: number;
  /** When the request was admitted, on the database's clock. */
  readonly at: string;
  readonly body: Buffer;
  readonly json: unknown;
  readonly bytes: number;
  readonly attempts: number;
  readonly latencyMs: number;
}

/** A key's client and budget, and the secrets that no page may keep. */
export interface KeyedClient {
  readonly client: ExplorerClient;
  readonly budget: Budget;
  readonly secrets: readonly string[];
  /** Names the engine in its signals (`signals.ts`). */
  readonly by: object;
}

/** Gets pages within the key's budget, with echoed keys removed. */
export function createFetcher({ client, budget, secrets, by }: KeyedClient) {
  const redact = createRedactor(secrets);
  const read = (received: Buffer) => {
    const body = withoutSecrets(received, secrets, redact);
    const json = parseBody(body, redact);
    if (lacksNext(json)) {
      const detail = 'the page has no field next_page_params, not even null';
      throw new ExplorerError({ failure: 'envelope-invalid', status: 200, detail });
    }
    return { body, json };
  };
  return async (
    request: ExplorerRequest & {
      readonly operation: string;
      readonly lane: BudgetLane;
      readonly isRecheck?: boolean;
    },
    signal: AbortSignal,
  ): Promise<FetchedPage> => {
    const { chainId: chain_id, operation, lane, isRecheck = false } = request;
    const labels = { by, chain_id, operation, lane };
    const answer = await client
      .get(request, {
        admit: (admitted) => budget.take(lane, admitted),
        report: (reply) => budget.report(reply),
        read,
        isRecheck,
        onAttempt: (attempt) =>
          signals.request.publish(() => ({ ...labels, ...attempt, credits: creditsPerRequest })),
        signal,
      })
      .catch((error: unknown) => {
        if (error instanceof ExplorerError) {
          signals.miss.publish(() => ({ ...labels, failure: error.failure }));
        }
        throw error;
      });
    return {
      page_id: answer.admission.page_id,
      at: answer.admission.at,
      ...answer.page,
      bytes: answer.bytes,
      attempts: answer.attempts,
      latencyMs: answer.latencyMs,
    };
  };
}

/** Whether the page lacks its next cursor: a retry may bring a lost field. */
const lacksNext = (json: unknown): boolean =>
  typeof json === 'object' &&
  json !== null &&
  Object.hasOwn(json, 'items') &&
  !Object.hasOwn(json, 'next_page_params');

/** Shorter secrets would mask data; no service issues such keys. */
const shortestMasked = 8;

/** Masks our keys in a body that repeats them, as a service does that echoes its request. */
function withoutSecrets(
  body: Buffer,
  secrets: readonly string[],
  redact: (text: string) => string,
): Buffer {
  const long = secrets.filter((key) => key.length >= shortestMasked);
  const echoes = long.some((key) => body.includes(traceOf(key)));
  return echoes ? Buffer.from(redact(body.toString())) : body;
}

/**
 * The longest part of a key that JSON, HTML, URLs and forms leave unchanged: a cheap search on every page. JSON alone
 * can write a key with odd characters in many ways.
 */
const traceOf = (key: string): string =>
  (key.match(/[\w.-]+/gu) ?? []).reduce(
    (long, part) => (part.length > long.length ? part : long),
    '',
  );
