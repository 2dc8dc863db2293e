import type {
  ChainSettings,
  SettingsByOperation,
  UserOperationsSettings,
} from '../config/settings.ts';
import { operationNames, type OperationName } from '../config/schema.ts';
import type { Lane } from '../walk/tables.ts';
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
      const scope = scopes[operation](settings as never, bounds);
      return lanesOf(operation).map((lane) => ({
        lane: { chain_id: chain.id, operation, lane },
        cron: settings.schedule,
        timezone: settings.timezone,
        scope: lane === 'live' ? liveScope(settings as never, scope) : scope,
      }));
    }),
  );
}

/** Whether an operation's list is kept current by a lane of its own, beside its history. */
export const hasLiveLane = (operation: OperationName) => operation === 'user-operations';

const lanesOf = (operation: OperationName): readonly Lane[] =>
  hasLiveLane(operation) ? ['live', 'backfill'] : ['backfill'];

/** A live walk ends at its floor; how far back history is wanted does not concern it. */
function liveScope(settings: UserOperationsSettings, scope: TickScope | null): TickScope {
  return {
    overlap_ms: settings.overlapMs,
    ...(scope?.max_pages !== undefined && { max_pages: scope.max_pages }),
  };
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
