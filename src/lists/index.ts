import { sql, type SQL } from 'drizzle-orm';
import type { FeedSettings, ListKind, ScopeBounds } from './list.ts';
import { newestFirstKind } from './newest-first/index.ts';
import { numberedKind } from './numbered/index.ts';
import type { ListUnit, Operation } from './operation.ts';
import { rankedKind } from './ranked/index.ts';
import { type OperationName, operationNames, operations } from './registry.ts';

function listOf(operation: Operation): ListKind {
  switch (operation.kind) {
    case 'newest-first':
      return newestFirstKind(operation);
    case 'numbered':
      return numberedKind(operation);
    case 'ranked':
      return rankedKind(operation);
  }
}

const lists = Object.fromEntries(
  operationNames.map((name) => [name, listOf(operations[name])]),
) as Readonly<Record<OperationName, ListKind>>;

/** An operation's list, as its kind treats it. */
export const kindOf = (operation: OperationName): ListKind => lists[operation];

/** What a feed is configured with. */
export const settingsOf = (operation: OperationName) => kindOf(operation).settings;

/** Whether parts of the list mean something by themselves. Else every walk reads all of it, and no page is replayed. */
export const hasHistory = (operation: OperationName) => kindOf(operation).verifies !== 'ranks';

/** Whether walks decide which rows a list has: pages keep heights, walks end one at a time. */
export const decidesMembership = (operation: OperationName) =>
  kindOf(operation).verifies === 'batches';

/** What the verified ranges of a list count. */
export function unitOf(operation: OperationName): ListUnit | 'ranks' {
  const { verifies } = kindOf(operation);
  return verifies === 'heights' ? (operations[operation].order?.unit ?? 'blocks') : verifies;
}

/** As SQL: what each kind says of a feed, a row of `feeds`; null if its kind is unknown. */
export function byKind(part: (kind: ListKind) => SQL): SQL {
  const kinds = new Map(operationNames.map((name) => [operations[name].kind, kindOf(name)]));
  const cases = [...kinds].map(([kind, list]) => sql`when ${kind} then ${part(list)}`);
  return sql`case feeds.kind ${sql.join(cases, sql` `)} end`;
}

export const isBoundedBy = (operation: OperationName, bound: string): boolean =>
  kindOf(operation).bounds.some((name) => name === bound);

export const boundsOn = (operation: OperationName, bounds: ScopeBounds): ScopeBounds =>
  Object.fromEntries(Object.entries(bounds).filter(([bound]) => isBoundedBy(operation, bound)));

/** The settings of a feed that bound it, by their names. */
export const boundSettings = (operation: OperationName, settings: object) =>
  Object.entries(settings).filter(([name]) => isBoundedBy(operation, name));

/** Whether a feed's settings bound it: one of them is not what it is by default. */
export function isBounded(operation: OperationName, settings: FeedSettings): boolean {
  const usual = new Map(Object.entries(settingsOf(operation).parse({})));
  return boundSettings(operation, settings).some(([name, value]) => value !== usual.get(name));
}

/** Bounds that a command named for a feed, as the settings that they replace. */
export type FeedTarget = Readonly<Record<string, unknown>>;

/** A feed's target from a command's bounds; null: they are of others, or its settings have some. */
export function targetOf(
  operation: OperationName,
  settings: FeedSettings,
  bounds: ScopeBounds,
): FeedTarget | null {
  const given = new Map<string, unknown>(Object.entries(bounds));
  const own = boundSettings(operation, settings);
  const isNamed = own.some(([name]) => given.get(name) !== undefined);
  if (!isNamed || isBounded(operation, settings)) return null;
  return Object.fromEntries(own.map(([name, value]) => [name, given.get(name) ?? value]));
}
