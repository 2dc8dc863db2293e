import { checksumAddress } from './addresses.ts';
import { listBatches } from './batches.ts';
import { listBlocks } from './blocks.ts';
import { listBundles } from './bundles.ts';
import {
  answerList,
  listAll,
  refuse,
  type Answer,
  type Call,
  type List,
  type Listed,
  type Paging,
} from './pages.ts';
import { rankingNames, rankings, type RankingName } from './rankings.ts';
import { listUserOperations } from './user-operations.ts';
import type { StatedItem, World } from './world.ts';

/** Where a list is, and how it is paged. */
export interface ListForm {
  /** A regular expression for what follows `api/v2/`; its group is a batch number. */
  readonly path: string;
  readonly paging: Paging;
}

/** A call of a list that the chain serves. */
interface TimedCall extends Call {
  readonly atMs: number;
  readonly withSecretKey: boolean;
}

interface ServedList extends ListForm {
  /** Absent: only a chain that states its lists has it. */
  readonly answer?: (call: TimedCall) => Answer;
}

/** A list that is drawn from the seed. */
const drawn = <Item extends Listed>(
  path: string,
  paging: Paging,
  list: (world: World, atMs: number, call: TimedCall) => List<Item>,
): ServedList => ({
  path,
  paging,
  answer: (call) => answerList(call, paging, list(call.world, call.atMs, call)),
});

const token = { cursor: 'page_token', keyForm: '0x[0-9a-f]{64}' } as const;
const withIndex = { ...token, keyForm: String.raw`0x[0-9a-f]{64},\d{1,15}` };
const ofAddress = { ...token, keyForm: '0x[0-9a-f]{40}', printKey: checksumAddress };

const ranked = Object.fromEntries(
  rankingNames.map((name) => {
    const path = `proxy/account-abstraction/${name}`;
    return [name, drawn(path, ofAddress, rankings[name].list)];
  }),
) as Record<RankingName, ServedList>;

const blocksPath = 'blocks/optimism-batch/([^/]+)';

/** The lists of the service. */
export const operations = {
  'optimism-batch-blocks': drawn(blocksPath, { cursor: 'block_number' }, listBlocks),
  'optimism-batches': drawn('optimism/batches', { cursor: 'id' }, listBatches),
  'user-operations': drawn('proxy/account-abstraction/operations', token, listUserOperations),
  bundles: drawn('proxy/account-abstraction/bundles', withIndex, listBundles),
  ...ranked,
} satisfies Record<string, ServedList>;

export type OperationName = keyof typeof operations;

/** Where a request leads. */
export type Route = NonNullable<ReturnType<typeof findRoute>>;

/** @returns null if the service has nothing at the path */
export function findRoute(path: string, moreLists: Readonly<Record<string, ListForm>> = {}) {
  const lists: Readonly<Record<string, ServedList>> = { ...operations, ...moreLists };
  const [, chainId, rest = ''] = /^\/(\d{1,15})\/api\/v2\/(.+)$/.exec(path) ?? [];
  for (const [operation, list] of Object.entries(lists)) {
    const [found, batch = ''] = new RegExp(`^${list.path}$`).exec(rest) ?? [];
    if (found !== undefined) return { chainId: Number(chainId), operation, list, batch };
  }
  return null;
}

/** The number of a route's batch; null if its list has no batches. */
export const batchOf = ({ batch }: Route): number | null => (batch === '' ? null : Number(batch));

/** What the chain serves there, as it states it or as the seed draws it. */
export function answerRoute(route: Route, call: Omit<TimedCall, 'batch'>): Answer {
  const { list, batch } = route;
  const stated = call.world.chain.stated?.(route.operation, batchOf(route));
  if (stated !== undefined) return answerList({ ...call, batch }, list.paging, listStated(stated));
  return list.answer?.({ ...call, batch }) ?? refuse(404, { message: 'Not found' });
}

const listStated = (items: readonly StatedItem[]) =>
  listAll(
    items.map((item) => ({ ...item, ordinal: item.value, lacksHash: false })),
    (item) => item,
    ({ printed }) => printed,
  );
