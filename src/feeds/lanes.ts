import { chainFacts } from '../chains.ts';
import { operationNames } from '../operations/index.ts';
import type { ChainSettings } from '../config/settings.ts';
import type { FeedLane } from '../lists/feed.ts';
import type { RegisteredFeed } from './register.ts';
import { targetOf } from './targets.ts';
import { boundsOn, kindOf } from '../lists/index.ts';
import type { ScopeBounds } from '../lists/list.ts';
import type { RunScope } from '../lists/tables.ts';

/** A lane as the configuration wants it. */
export interface ConfiguredLane {
  readonly lane: FeedLane;
  readonly cron: string;
  readonly timezone: string;
  readonly scope: RunScope;
}

/**
 * Every feed of the configuration, with its settings as they are kept in `etl.feeds`.
 *
 * @param bounds what a command names as the target of those that it concerns
 */
export function configuredFeeds(
  chains: readonly ChainSettings[],
  bounds: ScopeBounds = {},
): RegisteredFeed[] {
  return chains.flatMap((chain) =>
    operationNames.flatMap((operation) => {
      const settings = chain.operations[operation];
      if (settings === undefined) return [];
      const feed = { chain_id: chain.id, chain_name: chain.name, operation };
      const target = targetOf(operation, settings, bounds);
      const chain_facts = chainFacts(chain.id, chain);
      return [{ ...feed, chain_facts, settings: { ...settings }, target }];
    }),
  );
}

/** Every lane of the configuration, with what one run of it covers. */
export function configuredLanes(
  chains: readonly ChainSettings[],
  bounds: ScopeBounds = {},
): ConfiguredLane[] {
  return chains.flatMap((chain) =>
    operationNames.flatMap((operation) => {
      const settings = chain.operations[operation];
      if (settings === undefined) return [];
      const lanes = kindOf(operation).lanes(settings, boundsOn(operation, bounds));
      return lanes.map(({ lane, scope }) => ({
        lane: { chain_id: chain.id, operation, lane },
        cron: settings.schedule,
        timezone: settings.timezone,
        scope,
      }));
    }),
  );
}
