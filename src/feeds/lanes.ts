import type { ChainSettings, SettingsByOperation } from '../config/settings.ts';
import { operationNames } from '../config/schema.ts';
import type { FeedLane } from './feed.ts';
import type { RegisteredFeed } from './register.ts';
import type { TickScope } from './tables.ts';

/** A lane as the configuration wants it. */
export interface ConfiguredLane {
  readonly lane: FeedLane;
  readonly cron: string;
  readonly timezone: string;
  /** Null for batches without a last one: a range must be given to walk them. */
  readonly scope: TickScope | null;
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
      return [
        {
          lane: { chain_id: chain.id, operation, lane: 'backfill' as const },
          cron: settings.schedule,
          timezone: settings.timezone,
          scope: scopes[operation](settings as never, bounds),
        },
      ];
    }),
  );
}

type ScopeOf<Name extends keyof SettingsByOperation> = (
  settings: SettingsByOperation[Name],
  bounds: ScopeBounds,
) => TickScope | null;

const scopes: { readonly [Name in keyof SettingsByOperation]: ScopeOf<Name> } = {
  'user-operations': (settings, { since = settings.since ?? undefined, maxPages }) => ({
    ...(since !== undefined && { since }),
    ...(maxPages !== undefined && { max_pages: maxPages }),
  }),
  'optimism-batch-blocks': (settings, bounds) => {
    const from_batch = bounds.fromBatch ?? settings.fromBatch;
    const to_batch = bounds.toBatch ?? settings.toBatch;
    return to_batch === null ? null : { from_batch, to_batch };
  },
  factories: (_settings, { maxPages }) => ({
    ...(maxPages !== undefined && { max_pages: maxPages }),
  }),
};
