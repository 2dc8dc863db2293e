import type { ChainFacts } from '../chains.ts';
import { parseUrl } from '../db/timeouts.ts';
import type { OperationName } from '../lists/registry.ts';
import type { FeedSettings } from '../lists/settings.ts';
import { ConfigError, type Problem } from './error.ts';

/** An address to listen on; port 0 is any free one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Of the facts those that the file says. */
export interface ChainSettings extends Partial<ChainFacts> {
  readonly id: number;
  readonly name: string;
  /** Which of the named keys it uses; absent: the one of EXPLORER_API_KEY. */
  readonly key?: string;
  /** The operations to copy; what is absent is not copied. */
  readonly operations: Readonly<Partial<Record<OperationName, FeedSettings>>>;
}

/** A further key of the configuration. */
export interface NamedKey {
  /** The environment variable that is to hold it. */
  readonly variable: string;
  readonly apiKey: string | null;
  readonly requestsPerSecond: number;
  /** Null: no limit of ours. */
  readonly dailyCredits: number | null;
}

/** What a user decided, validated: flag before environment before file before default. */
export interface Settings {
  readonly explorer: Omit<NamedKey, 'variable'> & {
    /** Without a slash at its end. */
    readonly baseUrl: string;
    /** The optional `key` parameter. */
    readonly secretKey: string | null;
    readonly pageSize: number;
    /** Whether the bodies of pages are kept, for a replay. */
    readonly archive: 'off' | 'all';
    /** How long they are kept, in days; null: for ever. */
    readonly archiveDays: number | null;
    /** How long walks that brought nothing stay in the ledger, in days; null: for ever. */
    readonly ledgerDays: number | null;
    /** Further keys, by the names that chains choose them by. */
    readonly keys: Readonly<Record<string, NamedKey>>;
  };
  /** Null: the embedded Postgres. */
  readonly databaseUrl: string | null;
  /** Past the pooler that `databaseUrl` leads through; null: there is none, or it keeps sessions. */
  readonly directUrl: string | null;
  readonly chains: readonly ChainSettings[];
  readonly http: {
    /** Where the page is; null: the configuration has none. */
    readonly listen: ListenAddress | null;
    /** Where health and metrics are too, and no token is asked for; null: nowhere. */
    readonly metrics: ListenAddress | null;
    /** Further names by which browsers reach the page. */
    readonly hosts: readonly string[];
    /** Lets people in; null: nobody is asked for it. */
    readonly token: string | null;
  };
  /** Absolute path; null when there is no file. */
  readonly configFile: string | null;
}

/** A key that is there, and what it may be used for. */
export interface ApiKey extends NamedKey {
  readonly apiKey: string;
  /** The optional `key` parameter, which belongs to EXPLORER_API_KEY. */
  readonly secretKey: string | null;
}

/**
 * The API key of each chain, for commands that make requests; chains of one key share one object.
 * Throws ConfigError with advice where one is not set.
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

/** A shorter password would mask every second word; in a URL it is found by its place. */
const shortest = 4;

/** All that no line may hold, of what the settings say: keys, tokens, passwords of databases. */
export const secretsOf = ({ explorer, databaseUrl, directUrl, http }: Settings): string[] => [
  ...[explorer, ...Object.values(explorer.keys)].flatMap(({ apiKey }) => apiKey ?? []),
  ...[explorer.secretKey, http.token].filter((secret) => secret !== null),
  ...[databaseUrl, directUrl].flatMap((url) => (url === null ? [] : passwordsOf(url))),
];

/** The password in a database's URL, as it is written there and as it is meant. */
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
