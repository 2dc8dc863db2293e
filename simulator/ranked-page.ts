import { refuse, refuseParameters, type Answer } from './answer.ts';
import type { World } from './chain.ts';
import { addCopies, pageEventsAt, wrapPage } from './oddities.ts';
import { pageLimit, readParameters } from './parameters.ts';
import { listFactories, listUserOperations, type RankedList } from './ranked-list.ts';

/** Marks the token of a page whose empty forerunner has been served. */
const resumedMark = ',e';

/** A page of the user operations, newest first. */
export function answerUserOperations(world: World, query: URLSearchParams, atMs: number): Answer {
  return answerList(world, query, listUserOperations(world, atMs));
}

/** A page of the factories, most accounts first. */
export function answerFactories(world: World, query: URLSearchParams, atMs: number): Answer {
  return answerList(world, query, listFactories(world, atMs));
}

function answerList<
  Item extends { readonly ordinal: number; readonly lacksHash: boolean },
  Position,
>(world: World, query: URLSearchParams, list: RankedList<Item, Position>): Answer {
  const parameters = readParameters(query, ['page_size', 'page_token']);
  const pageSize = parameters.integer('page_size', 1, pageLimit) ?? pageLimit;
  if (parameters.problems.length > 0) return refuseParameters(parameters.problems);

  const start = findStart(world, list, parameters.text('page_token'));
  if (start === null) return refuse(400, { code: 3, message: 'invalid format for page_token' });
  const key = parameters.text('key');
  // One more than the page holds: its position is the token.
  const own = list.below(start.position, pageSize + 1);
  const first = own[0];
  if (first === undefined) return answerPage(wrapPage(world, [], null, key), 0);

  const events = pageEventsAt(world, first.ordinal);
  if (events.emptyFirst && !start.isResumed) {
    const page_token = `${list.token(first)}${resumedMark}`;
    return answerPage(wrapPage(world, [], { page_size: pageSize, page_token }, key), 0);
  }
  const before = events.repeatsBefore ? list.above(first) : undefined;
  const served = own.slice(0, pageSize).map((item) => list.served(item));
  const items = addCopies(served, before && list.served(before), events);
  const following = own[pageSize];
  const next = following && { page_size: pageSize, page_token: list.token(following) };
  const rendered = items.map((item) => list.render(item));
  return answerPage(wrapPage(world, rendered, next ?? null, key), items.length);
}

function answerPage(body: Record<string, unknown>, items: number): Answer {
  return { status: 200, body, items };
}

function findStart<Item, Position>(
  world: World,
  list: RankedList<Item, Position>,
  token: string | undefined,
): { readonly position: Position | null; readonly isResumed: boolean } | null {
  if (token === undefined) return { position: null, isResumed: false };
  const isResumed = world.oddities.has('empty-page-with-cursor') && token.endsWith(resumedMark);
  const position = list.parse(isResumed ? token.slice(0, -resumedMark.length) : token);
  return position === null ? null : { position, isResumed };
}
