import { refuse, refuseParameters, type Answer } from './answer.ts';
import { checksumAddress } from './checksum.ts';
import type { World } from './chain.ts';
import { factoryAt, seekFactory } from './factories.ts';
import { addCopies, pageEventsAt, wrapPage } from './oddities.ts';
import { pageLimit, readParameters } from './parameters.ts';
import { renderFactory } from './render-factory.ts';
import { renderUserOperation } from './render-user-operation.ts';
import { seekUserOperation, userOperationAt } from './user-operations.ts';

/** A list in descending order, from ordinal `count - 1` to 0, that a token finds its place in. */
interface RankedList<Item extends { readonly lacksHash: boolean }> {
  readonly count: number;
  readonly at: (ordinal: number) => Item;
  /** The token of a page that begins with this item. */
  readonly token: (item: Item) => string;
  /** The ordinal where a token's page begins, -1 below the list; null if it is no token. */
  readonly seek: (token: string) => number | null;
  readonly render: (item: Item) => unknown;
}

/** Marks the token of a page whose empty forerunner has been served. */
const resumedMark = ',e';

/** A page of the user operations, newest first. */
export function answerUserOperations(world: World, query: URLSearchParams): Answer {
  return answerList(world, query, {
    count: world.chain.userOperations,
    at: (ordinal) => userOperationAt(world, ordinal),
    token: ({ blockNumber, hash }) => `${blockNumber},${hash}`,
    seek(token) {
      const [, block, hash] = /^(\d{1,15}),(0x[0-9a-f]{64})$/i.exec(token) ?? [];
      if (block === undefined || hash === undefined) return null;
      return seekUserOperation(world, Number(block), hash.toLowerCase());
    },
    render: (operation) => renderUserOperation(world, operation),
  });
}

/** A page of the factories, most accounts first. */
export function answerFactories(world: World, query: URLSearchParams): Answer {
  return answerList(world, query, {
    count: world.chain.factories,
    at: (ordinal) => factoryAt(world, ordinal),
    token: ({ totalAccounts, addressHash }) => `${totalAccounts},${checksumAddress(addressHash)}`,
    seek(token) {
      const [, total, address] = /^(\d{1,15}),(0x[0-9a-f]{40})$/i.exec(token) ?? [];
      if (total === undefined || address === undefined) return null;
      return seekFactory(world, Number(total), address.toLowerCase());
    },
    render: (factory) => renderFactory(world, factory),
  });
}

function answerList<Item extends { readonly lacksHash: boolean }>(
  world: World,
  query: URLSearchParams,
  list: RankedList<Item>,
): Answer {
  const parameters = readParameters(query, ['page_size', 'page_token']);
  const pageSize = parameters.integer('page_size', 1, pageLimit) ?? pageLimit;
  if (parameters.problems.length > 0) return refuseParameters(parameters.problems);

  const head = list.count - 1;
  const start = findStart(world, list, parameters.text('page_token'));
  if (start === null) return refuse(400, { code: 3, message: 'invalid format for page_token' });
  const key = parameters.text('key');
  const first = Math.min(start.ordinal, head);
  const events = pageEventsAt(world, first);
  if (events.emptyFirst && !start.isResumed && first >= 0) {
    const page_token = `${list.token(list.at(first))}${resumedMark}`;
    return {
      status: 200,
      body: wrapPage(world, [], { page_size: pageSize, page_token }, key),
      items: 0,
    };
  }
  const length = Math.min(pageSize, first + 1);
  const own = Array.from({ length }, (_, place) => list.at(first - place));
  const before = first < head ? list.at(first + 1) : undefined;
  const items = addCopies(own, before, events).map((item) => list.render(item));
  const following = first - length;
  const next =
    following < 0 ? null : { page_size: pageSize, page_token: list.token(list.at(following)) };
  return { status: 200, body: wrapPage(world, items, next, key), items: items.length };
}

function findStart<Item extends { readonly lacksHash: boolean }>(
  world: World,
  list: RankedList<Item>,
  token: string | undefined,
): { readonly ordinal: number; readonly isResumed: boolean } | null {
  if (token === undefined) return { ordinal: list.count - 1, isResumed: false };
  const isResumed = world.oddities.has('empty-page-with-cursor') && token.endsWith(resumedMark);
  const ordinal = list.seek(isResumed ? token.slice(0, -resumedMark.length) : token);
  return ordinal === null ? null : { ordinal, isResumed };
}
