import { ConfigError } from './error.ts';

interface Scheduled {
  /** Five cron fields. */
  readonly schedule: string;
  /** IANA name that the schedule is read in. */
  readonly timezone: string;
}

export interface UserOperationsSettings extends Scheduled {
  /** How far below what is covered a live walk goes, in ms. */
  readonly overlapMs: number;
  /** Oldest operation wanted, ISO 8601 in UTC; null: all. */
  readonly since: string | null;
}

export interface OptimismBatchBlocksSettings extends Scheduled {
  readonly fromBatch: number;
  /** Last batch to read; null: the newest there is. */
  readonly toBatch: number | null;
  /** Newest batches that each tick reads again. */
  readonly reread: number;
  /** Walks, of one batch each, at once. */
  readonly parallel: number;
}

export type FactoriesSettings = Scheduled;

/** The settings of each operation by its name. */
export interface SettingsByOperation {
  readonly 'user-operations': UserOperationsSettings;
  readonly 'optimism-batch-blocks': OptimismBatchBlocksSettings;
  readonly factories: FactoriesSettings;
}

export interface ChainSettings {
  readonly id: number;
  readonly name: string;
  /** The operations to copy; what is absent is not copied. */
  readonly operations: Partial<SettingsByOperation>;
}

/** All that a user decided, validated: flag before environment before file before default. */
export interface Settings {
  readonly explorer: {
    /** Without a slash at its end. */
    readonly baseUrl: string;
    readonly apiKey: string | null;
    /** The optional `key` parameter. */
    readonly secretKey: string | null;
    readonly requestsPerSecond: number;
    /** Null: no limit of ours. */
    readonly dailyCredits: number | null;
    readonly pageSize: number;
  };
  /** Null: the embedded Postgres. */
  readonly databaseUrl: string | null;
  readonly chains: readonly ChainSettings[];
  /** Absolute path; null when there is no file. */
  readonly configFile: string | null;
}

/** The API key, for commands that make requests. Throws ConfigError with advice without one. */
export function requireApiKey(settings: Pick<Settings, 'explorer'>): string {
  const { apiKey } = settings.explorer;
  if (apiKey !== null) return apiKey;
  const message =
    'EXPLORER_API_KEY is not set: put your API key there, or the path of a file that holds it in EXPLORER_API_KEY_FILE';
  throw new ConfigError([{ message, where: null }]);
}
