import { CronExpressionParser } from 'cron-parser';
import { sql } from 'drizzle-orm';
import { chainFacts } from '../chains.ts';
import type { ChainSettings } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import { feedName } from '../lists/feed.ts';
import { boundsOn, kindOf } from '../lists/index.ts';
import type { Occasion, ScopeBounds, Target } from '../lists/list.ts';
import { type OperationName, operationNames } from '../lists/registry.ts';
import type { FeedSettings } from '../lists/settings.ts';
import type { RunScope } from '../lists/tables.ts';
import { isPolledLater } from './failures.ts';
import type { RegisteredFeed } from './feeds.ts';
import type { LaneTimes } from './workers.ts';

/** Bounds that a command named for a feed, as the settings that they replace. */
export type FeedTarget = Readonly<Record<string, unknown>>;

/** A feed's target from a command's bounds; null: they are of others, or its settings have some. */
function targetOf(
  operation: OperationName,
  settings: FeedSettings,
  bounds: ScopeBounds,
): FeedTarget | null {
  if (kindOf(operation).isBounded(settings)) return null;
  const target = kindOf(operation).target(settings, boundsOn(operation, bounds));
  return target === null ? null : { ...target };
}

/** The chains with each feed's target: the file's bounds, else a command's, this one first. */
export async function withTargets(
  db: Database,
  chains: readonly ChainSettings[],
  bounds: ScopeBounds = {},
): Promise<ChainSettings[]> {
  const stored = await storedTargets(db);
  return chains.map(({ operations, ...chain }) => ({
    ...chain,
    operations: Object.fromEntries(
      operationNames.flatMap((operation) => {
        const settings = operations[operation];
        if (settings === undefined) return [];
        const feed = feedName({ chain_id: chain.id, operation });
        const earlier = kindOf(operation).isBounded(settings) ? undefined : stored.get(feed);
        const target = targetOf(operation, settings, bounds) ?? earlier;
        return [[operation, { ...settings, ...target }]];
      }),
    ),
  }));
}

/** Targets that commands named, by feed name. */
async function storedTargets(db: Database): Promise<ReadonlyMap<string, FeedTarget>> {
  const { rows } = await db.execute<{ feed: string; target: FeedTarget }>(
    sql`select feed, target from etl.feeds where target is not null`,
  );
  return new Map(rows.map(({ feed, target }) => [feed, target]));
}

export interface ConfiguredLane extends LaneTimes {
  readonly scope: RunScope;
}

/** Every feed of the configuration; `bounds` are a command's. */
export function configuredFeeds(
  chains: readonly ChainSettings[],
  bounds: ScopeBounds = {},
): RegisteredFeed[] {
  return feedsIn(chains).map(({ chain, operation, settings }) => ({
    chain_id: chain.id,
    chain_name: chain.name,
    operation,
    chain_facts: chainFacts(chain.id, chain),
    settings: { ...settings },
    target: targetOf(operation, settings, bounds),
  }));
}

/** Each feed of the configuration, chain by chain. */
export const feedsIn = (chains: readonly ChainSettings[]) =>
  chains.flatMap((chain) =>
    operationNames.flatMap((operation) => {
      const settings = chain.operations[operation];
      return settings === undefined ? [] : [{ chain, operation, settings }];
    }),
  );

/** Every lane of the configuration, with what one run of it covers. */
export function configuredLanes(
  chains: readonly ChainSettings[],
  bounds: ScopeBounds = {},
): ConfiguredLane[] {
  return feedsIn(chains).flatMap(({ chain, operation, settings }) => {
    const lanes = kindOf(operation).lanes(settings, boundsOn(operation, bounds));
    return lanes.map(({ lane, scope }) => ({
      lane: { chain_id: chain.id, operation, lane },
      cron: settings.schedule,
      timezone: settings.timezone,
      scope,
    }));
  });
}

/** Stores the wanted target ranges: the configuration's, or a command's flags. */
export async function reconcileTargets(db: Database, targets: readonly Target[]): Promise<void> {
  for (const ofFeed of Map.groupBy(targets, ({ lane }) => feedName(lane)).values()) {
    const [first] = ofFeed;
    if (first === undefined) continue;
    const scopes = ofFeed.map(({ scope }) => scope);
    await kindOf(first.lane.operation).reconcileTarget(db, first.lane, scopes);
  }
}

/** The lanes with work at `at`. A list that the explorer does not serve is polled rarely. */
export async function dueLanes<Lane extends Target>(
  db: Database,
  targets: readonly Lane[],
  occasion: Occasion,
  at: Date,
): Promise<Lane[]> {
  const due: Lane[] = [];
  for (const target of targets) {
    if (occasion !== 'sync' && (await isPolledLater(db, target.lane))) continue;
    if (await kindOf(target.lane.operation).isDue(db, target, occasion, at)) due.push(target);
  }
  return due;
}

/** A person's request is read now, whatever its interval. */
export const atOnce = ({ lane, scope }: Target): RunScope =>
  lane.lane === 'backfill' && kindOf(lane.operation).hasHistory
    ? { ...scope, at_once: true }
    : scope;

/** When the first schedule is due after a time; null if none ever is. */
export function nextPoll(
  lanes: readonly Pick<ConfiguredLane, 'cron' | 'timezone'>[],
  after: Date,
): Date | null {
  const due = lanes.flatMap(({ cron, timezone }) => {
    const schedule = CronExpressionParser.parse(cron, { currentDate: after, tz: timezone });
    // Such as 30 February: never.
    return schedule.hasNext() ? [schedule.next().getTime()] : [];
  });
  return due.length === 0 ? null : new Date(Math.min(...due));
}
