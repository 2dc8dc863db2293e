import { checksumAddress } from './checksum.ts';
import type { World } from './chain.ts';
import { partnerOf } from './disorder.ts';
import { factoryAt, seekFactory, type Factory } from './factories.ts';
import { factoriesBelow, factoryAbove, type FactoryPosition } from './moving-factories.ts';
import {
  operationAbove,
  operationsBelow,
  operationServed,
  type OperationPosition,
} from './moving-operations.ts';
import { renderFactory } from './render-factory.ts';
import { renderUserOperation } from './render-user-operation.ts';
import { seekUserOperation, userOperationAt, type UserOperation } from './user-operations.ts';

/** A list in descending order, as it stands at one time. */
export interface RankedList<Item, Position> {
  /** The items from a position downward, or from the head; `length` at most. */
  readonly below: (position: Position | null, length: number) => readonly Item[];
  /** The item just above one that is on the list. */
  readonly above: (item: Item) => Item | undefined;
  /** What is served in the place of an item: itself, where the order is right. */
  readonly served: (item: Item) => Item;
  /** The token of a page that begins with this item. */
  readonly token: (item: Item) => string;
  /** The position that a token names; null if it is no token. */
  readonly parse: (token: string) => Position | null;
  readonly render: (item: Item) => unknown;
}

/** The user operations at a time, newest first. */
export function listUserOperations(
  world: World,
  atMs: number,
): RankedList<UserOperation, OperationPosition> {
  const { course } = world;
  return {
    ...(course === null
      ? restingOperations(world, atMs)
      : {
          below: (position, length) => operationsBelow(world, course, position, length, atMs),
          above: (item) => operationAbove(world, course, item, atMs),
          served: (item) => operationServed(world, course, item, atMs),
        }),
    token: ({ blockNumber, hash }) => `${blockNumber},${hash}`,
    parse(token) {
      const [, block, hash] = /^(\d{1,15}),(0x[0-9a-f]{64})$/i.exec(token) ?? [];
      if (block === undefined || hash === undefined) return null;
      return { blockNumber: Number(block), hash: hash.toLowerCase() };
    },
    render: (operation) => renderUserOperation(world, operation),
  };
}

/** The factories at a time, most accounts first. */
export function listFactories(world: World, atMs: number): RankedList<Factory, FactoryPosition> {
  const { course } = world;
  return {
    ...(course === null
      ? restingFactories(world)
      : {
          below: (position, length) => factoriesBelow(world, course, position, length, atMs),
          above: (item) => factoryAbove(world, course, item, atMs),
        }),
    served: (item) => item,
    token: ({ totalAccounts, addressHash }) => `${totalAccounts},${checksumAddress(addressHash)}`,
    parse(token) {
      const [, total, address] = /^(\d{1,15}),(0x[0-9a-f]{40})$/i.exec(token) ?? [];
      if (total === undefined || address === undefined) return null;
      return { totalAccounts: Number(total), addressHash: address.toLowerCase() };
    },
    render: (factory) => renderFactory(world, factory),
  };
}

type Reading<Item, Position> = Pick<RankedList<Item, Position>, 'below' | 'above'>;

function restingOperations(
  world: World,
  atMs: number,
): Reading<UserOperation, OperationPosition> & Pick<RankedList<UserOperation, never>, 'served'> {
  const { userOperations, disorder } = world.chain;
  const at = (ordinal: number) => userOperationAt(world, ordinal);
  const seek = ({ blockNumber, hash }: OperationPosition) =>
    seekUserOperation(world, blockNumber, hash);
  return {
    ...readByOrdinal(userOperations, at, seek),
    served(item) {
      const partner = partnerOf(disorder, world.streams.disorder, item.ordinal, atMs);
      return partner === item.ordinal || partner >= userOperations ? item : at(partner);
    },
  };
}

function restingFactories(world: World): Reading<Factory, FactoryPosition> {
  const seek = ({ totalAccounts, addressHash }: FactoryPosition) =>
    seekFactory(world, totalAccounts, addressHash);
  return readByOrdinal(world.chain.factories, (ordinal) => factoryAt(world, ordinal), seek);
}

/** Reads a list whose items stand in the order of their ordinals, from `count - 1` down to 0. */
function readByOrdinal<Item extends { readonly ordinal: number }, Position>(
  count: number,
  at: (ordinal: number) => Item,
  seek: (position: Position) => number,
): Reading<Item, Position> {
  const head = count - 1;
  return {
    below(position, length) {
      const first = position === null ? head : Math.min(seek(position), head);
      return Array.from({ length: Math.min(length, first + 1) }, (_, place) => at(first - place));
    },
    above: ({ ordinal }) => (ordinal < head ? at(ordinal + 1) : undefined),
  };
}
