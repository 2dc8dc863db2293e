import type { ChainFacts } from '../chains.ts';
import { parseUrl } from '../db/timeouts.ts';
import type { OperationName } from '../lists/registry.ts';
import type { FeedSettings } from '../lists/settings.ts';
import { ConfigError, type Problem } from './error.ts';

/** Port 0 is any free one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Only the facts that the file states. */
export interface ChainSettings extends Partial<ChainFacts> {
  readonly id: number;
  readonly name: string;
  /** The name of its key; absent: EXPLORER_API_KEY. */
  readonly key?: string;
  /** The operations to copy. */
  readonly operations: Readonly<Partial<Record<OperationName, FeedSettings>>>;
}

export interface NamedKey {
  /** The environment variable of the key. */
  readonly variable: string;
  readonly apiKey: string | null;
  readonly requestsPerSecond: number;
  /** Null: no limit of ours. */
  readonly dailyCredits: number | null;
}

/** The user's validated settings: flag before environment before file before default. */
export interface Settings {
  readonly explorer: Omit<NamedKey, 'variable'> & {
    /** Without a trailing slash. */
    readonly baseUrl: string;
    /** The optional `key` parameter. */
    readonly secretKey: string | null;
    readonly pageSize: number;
    /** Whether page bodies are kept for a replay. */
    readonly archive: 'off' | 'all';
    /** Days that bodies are kept; null: for ever. */
    readonly archiveDays: number | null;
    /** Days that the ledger keeps walks without changes; null: for ever. */
    readonly ledgerDays: number | null;
    /** By the names that chains refer to. */
    readonly keys: Readonly<Record<string, NamedKey>>;
  };
  /** Null: the embedded Postgres. */
  readonly databaseUrl: string | null;
  /** Bypasses the pooler of `databaseUrl`; null: there is none, or it keeps sessions. */
  readonly directUrl: string | null;
  readonly chains: readonly ChainSettings[];
  readonly http: {
    /** Address of the page; null: none. */
    readonly listen: ListenAddress | null;
    /** Additional address of health and metrics, without a token; null: none. */
    readonly metrics: ListenAddress | null;
    /** Further host names of the page. */
    readonly hosts: readonly string[];
    /** Access token of the page; null: none is needed. */
    readonly token: string | null;
  };
  /** Absolute path; null: no file. */
  readonly configFile: string | null;
}

export interface ApiKey extends NamedKey {
  readonly apiKey: string;
  /** The `key` parameter, only with EXPLORER_API_KEY. */
  readonly secretKey: string | null;
}

/**
 * The API key of each chain, for commands that make requests; chains of one key share one object. Throws ConfigError
 * with advice if one is not set.
 */
export function requireApiKey({
  explorer,
  chains,
}: Pick<Settings, 'explorer' | 'chains'>): ReadonlyMap<number, ApiKey> {
  const keyOfChain = new Map<number, ApiKey>();
  const problems: Problem[] = [];
  for (const [name, users] of Map.groupBy(chains, ({ key }) => key)) {
    const named = explorer.keys[name ?? ''];
    const { apiKey, ...key } =
      named === undefined
        ? { ...explorer, variable: 'EXPLORER_API_KEY' }
        : { ...named, secretKey: null };
    if (apiKey === null) {
      const message = `${key.variable} is not set: put your API key there, or the path of a file that holds it in ${key.variable}_FILE`;
      problems.push({ message, where: null });
      continue;
    }
    const used = { ...key, apiKey };
    for (const { id } of users) keyOfChain.set(id, used);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return keyOfChain;
}

/** A shorter password would mask unrelated words; in a URL, its place identifies it. */
const shortest = 4;

/** The secrets of the settings, which no line may hold: keys, tokens, passwords. */
export const secretsOf = ({ explorer, databaseUrl, directUrl, http }: Settings): string[] => [
  ...[explorer, ...Object.values(explorer.keys)].flatMap(({ apiKey }) => apiKey ?? []),
  ...[explorer.secretKey, http.token].filter((secret) => secret !== null),
  ...[databaseUrl, directUrl].flatMap((url) => (url === null ? [] : passwordsOf(url))),
];

/** The password of a database URL, encoded and decoded. */
export function passwordsOf(url: string): string[] {
  const written = parseUrl(url).password;
  return [...new Set([written, decoded(written)])].filter(({ length }) => length >= shortest);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
