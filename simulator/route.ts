import { answerBatches } from './batches.ts';
import { answerBatch } from './block-pages.ts';
import { listFactories } from './factories.ts';
import { answerRanked, refuse, type Answer } from './pages.ts';
import { listUserOperations } from './user-operations.ts';
import type { World } from './world.ts';

/** The lists of the service. */
export type OperationName =
  'optimism-batch-blocks' | 'optimism-batches' | 'user-operations' | 'factories';

/** Where a path leads. */
export interface Route {
  readonly chainId: number;
  readonly operation: OperationName;
  /** The batch number as written; empty for the other lists. */
  readonly batch: string;
}

/** What the service needs to answer: its chains by id, and the keys that it knows. */
export interface Service {
  readonly worlds: ReadonlyMap<number, World>;
  readonly apiKeys: ReadonlySet<string>;
  readonly secretKey: string | undefined;
  /** Simulated milliseconds since the start. */
  readonly clock: () => number;
}

const pathPattern =
  /^\/(\d{1,15})\/api\/v2\/(?:blocks\/optimism-batch\/([^/]+)|optimism\/(batches)|proxy\/account-abstraction\/(operations|factories))$/;

/** The route of a path, or null where the service has nothing. */
export function findRoute(path: string): Route | null {
  const match = pathPattern.exec(path);
  if (match === null) return null;
  const [, chainId, batch, batches, list] = match;
  return { chainId: Number(chainId), operation: operationOf(batches ?? list), batch: batch ?? '' };
}

function operationOf(list: string | undefined): OperationName {
  if (list === undefined) return 'optimism-batch-blocks';
  if (list === 'batches') return 'optimism-batches';
  return list === 'operations' ? 'user-operations' : 'factories';
}

/** The answer to a request: the key first, as a gateway does, then the chain, then the query. */
export function answerRoute(service: Service, route: Route | null, query: URLSearchParams): Answer {
  if (route === null) return refuse(404, { message: 'Not found' });
  const apiKey = query.get('apikey');
  if (apiKey === null || apiKey === '') {
    const error = 'Proceed with API key or make a X402 payment to continue';
    return refuse(402, { error });
  }
  if (!service.apiKeys.has(apiKey)) return refuse(401, { error: 'Unauthorized' });
  const world = service.worlds.get(route.chainId);
  if (world === undefined) {
    return refuse(404, { error: 'Network not supported', source: 'internal' });
  }
  if (world.chain.family === 'plain') return refusePlain(route.operation);
  const withSecretKey = service.secretKey !== undefined && query.get('key') === service.secretKey;
  const atMs = service.clock();
  switch (route.operation) {
    case 'optimism-batch-blocks':
      return answerBatch(world, route.batch, query, { atMs, withSecretKey });
    case 'optimism-batches':
      return answerBatches(world, query, atMs);
    case 'user-operations':
      return answerRanked(world, query, listUserOperations(world, atMs));
    case 'factories':
      return answerRanked(world, query, listFactories(world, atMs));
  }
}

function refusePlain(operation: OperationName): Answer {
  if (operation === 'optimism-batch-blocks' || operation === 'optimism-batches') {
    return refuse(400, { message: 'Unknown API v2 action' });
  }
  return refuse(501, { error: 'Not implemented', source: 'upstream' });
}
