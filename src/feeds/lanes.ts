import type { ChainSettings, SettingsByOperation } from '../config/settings.ts';
import { operationNames } from '../config/schema.ts';
import type { Lane } from '../walk/tables.ts';
import type { FeedLane } from './feed.ts';
import type { RegisteredFeed } from './register.ts';
import type { TickScope } from './tables.ts';

/** A lane as the configuration wants it. */
export interface ConfiguredLane {
  readonly lane: FeedLane;
  readonly cron: string;
  readonly timezone: string;
  readonly scope: TickScope;
}

/** What a command's flags put in place of the configuration's bounds. */
export interface ScopeBounds {
  readonly since?: string;
  readonly maxPages?: number;
  readonly fromBatch?: number;
  readonly toBatch?: number;
}

/** Every feed of the configuration, with its settings as they are kept in `etl.feeds`. */
export function configuredFeeds(chains: readonly ChainSettings[]): RegisteredFeed[] {
  return chains.flatMap((chain) =>
    operationNames.flatMap((operation) => {
      const settings = chain.operations[operation];
      return settings === undefined
        ? []
        : [{ chain_id: chain.id, chain_name: chain.name, operation, settings: { ...settings } }];
    }),
  );
}

/** Every lane of the configuration, with what one tick of it covers. */
export function configuredLanes(
  chains: readonly ChainSettings[],
  bounds: ScopeBounds = {},
): ConfiguredLane[] {
  return chains.flatMap((chain) =>
    operationNames.flatMap((operation) => {
      const settings = chain.operations[operation];
      if (settings === undefined) return [];
      const lanes = lanesOf[operation](settings as never, bounds);
      return lanes.map(({ lane, scope }) => ({
        lane: { chain_id: chain.id, operation, lane },
        cron: settings.schedule,
        timezone: settings.timezone,
        scope,
      }));
    }),
  );
}

interface LaneScope {
  readonly lane: Lane;
  readonly scope: TickScope;
}

type LanesOf<Name extends keyof SettingsByOperation> = (
  settings: SettingsByOperation[Name],
  bounds: ScopeBounds,
) => readonly LaneScope[];

const lanesOf: { readonly [Name in keyof SettingsByOperation]: LanesOf<Name> } = {
  'user-operations': (settings, { since = settings.since ?? undefined, maxPages }) => {
    const resweep = settings.resweep.map((rule) => ({
      depth_ms: rule.depthMs,
      every_ms: rule.everyMs,
    }));
    // A bound in pages is for a first look: deeper ones would be cut short by it.
    const depth = maxPages === undefined ? { resweep } : { max_pages: maxPages };
    return [
      // A live walk ends at its floor; how far back history is wanted does not concern it.
      { lane: 'live', scope: { overlap_ms: settings.overlapMs, ...depth } },
      { lane: 'backfill', scope: { ...(since !== undefined && { since }), ...depth } },
    ];
  },
  'optimism-batch-blocks': (settings, { fromBatch, toBatch }) => {
    const from_batch = fromBatch ?? settings.fromBatch;
    const to_batch = toBatch ?? settings.toBatch ?? undefined;
    if (to_batch === undefined) {
      return [
        { lane: 'live', scope: { from_batch, reread: settings.reread } },
        { lane: 'backfill', scope: { from_batch, reread: settings.reread } },
      ];
    }
    return [{ lane: 'backfill', scope: { from_batch, to_batch } }];
  },
  factories: (_settings, { maxPages }) => [
    { lane: 'backfill', scope: maxPages === undefined ? {} : { max_pages: maxPages } },
  ],
};
