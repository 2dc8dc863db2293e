import { listBatches } from './batches.ts';
import { listBlocks } from './block-pages.ts';
import { listFactories } from './factories.ts';
import { answerCounted, answerRanked, refuse, type Answer } from './pages.ts';
import { listUserOperations } from './user-operations.ts';
import type { World } from './world.ts';

/** The lists of the service. */
export const operations = [
  'optimism-batch-blocks',
  'optimism-batches',
  'user-operations',
  'factories',
] as const;

export type OperationName = (typeof operations)[number];

/** Where a path leads. */
interface Route {
  readonly chainId: number;
  readonly operation: OperationName;
  /** The batch number as written; empty for the other lists. */
  readonly batch: string;
}

/** What the service needs to answer: its chains by id, and the keys that it knows. */
interface Service {
  readonly worlds: ReadonlyMap<number, World>;
  readonly apiKeys: ReadonlySet<string>;
  readonly secretKey: string | undefined;
  /** Simulated milliseconds since the start. */
  readonly clock: () => number;
}

const paths: readonly (readonly [RegExp, OperationName])[] = [
  [/^blocks\/optimism-batch\/([^/]+)$/, 'optimism-batch-blocks'],
  [/^optimism\/batches$/, 'optimism-batches'],
  [/^proxy\/account-abstraction\/operations$/, 'user-operations'],
  [/^proxy\/account-abstraction\/factories$/, 'factories'],
];

/** The route of a path, or null if the service has nothing there. */
export function findRoute(path: string): Route | null {
  const [, chainId, rest = ''] = /^\/(\d{1,15})\/api\/v2\/(.+)$/.exec(path) ?? [];
  for (const [pattern, operation] of paths) {
    const match = pattern.exec(rest);
    if (match !== null) return { chainId: Number(chainId), operation, batch: match[1] ?? '' };
  }
  return null;
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
      return answerCounted(
        world,
        query,
        listBlocks(world, Number(route.batch), atMs, withSecretKey),
        /^\d{1,15}$/.test(route.batch) ? [] : [badBatch],
      );
    case 'optimism-batches':
      return answerCounted(world, query, listBatches(world, atMs));
    case 'user-operations':
      return answerRanked(world, query, listUserOperations(world, atMs));
    case 'factories':
      return answerRanked(world, query, listFactories(world, atMs));
  }
}

const badBatch = { name: 'batch_number_param', detail: 'Invalid integer' };

function refusePlain(operation: OperationName): Answer {
  const isBatches = operation === 'optimism-batch-blocks' || operation === 'optimism-batches';
  return isBatches
    ? refuse(400, { message: 'Unknown API v2 action' })
    : refuse(501, { error: 'Not implemented', source: 'upstream' });
}
