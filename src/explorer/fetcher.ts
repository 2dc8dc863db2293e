import { createRedactor } from '../redact.ts';
import { signals } from '../signals.ts';
import type { Budget, BudgetLane } from './budget.ts';
import type { ExplorerClient, ExplorerRequest } from './client.ts';
import { ExplorerError } from './error.ts';
import { parseBody } from './response.ts';
import { creditsPerRequest } from './slot.ts';

/** A page as the walk takes it: its bytes, their value, and when and how they came. */
export interface FetchedPage {
  /** Orders it among all observations. */
  readonly page_id: number;
  /** When the request was let through, on the database's clock. */
  readonly at: string;
  readonly body: Buffer;
  readonly json: unknown;
  readonly bytes: number;
  readonly attempts: number;
  readonly latencyMs: number;
}

/** What a key's requests go through, and the secrets that no page may keep. */
export interface KeyedClient {
  readonly client: ExplorerClient;
  readonly budget: Budget;
  readonly secrets: readonly string[];
  /** Who requests: the name of its signals (`signals.ts`). */
  readonly by: object;
}

/** Gets a page for a lane: within the key's budget, and without the keys where it echoes them. */
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
    const { chainId: chain_id, operation, lane, isRecheck: isDoubt = false } = request;
    const labels = { by, chain_id, operation, lane };
    const answer = await client
      .get(request, {
        admit: (admitted) => budget.take(lane, admitted),
        report: (told) => budget.report(told),
        read,
        isRecheck: isDoubt,
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

/**
 * Whether a page does not say what follows it: a field that was lost on the way is no end of the list, and
 * the same request may bring it.
 */
const lacksNext = (json: unknown): boolean =>
  typeof json === 'object' &&
  json !== null &&
  Object.hasOwn(json, 'items') &&
  !Object.hasOwn(json, 'next_page_params');

/** Shorter secrets would mask what is data; no service gives out such keys. */
const shortestMasked = 8;

/** A body that repeats a key of ours, as items do when a service echoes its request, loses it here. */
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
 * The longest part of a key that JSON, HTML, URLs and forms all leave as it is: cheap to look for on
 * every page. Whole spellings are not: JSON alone may write a key of odd characters in many ways.
 */
const traceOf = (key: string): string =>
  (key.match(/[\w.-]+/gu) ?? []).reduce(
    (long, part) => (part.length > long.length ? part : long),
    '',
  );
