import { parseUrl, passwordOf } from '../db/url.ts';
import type { Problem } from '../failure.ts';
import { ConfigError } from './environment.ts';
import type { loadSettings, NamedKey } from './load.ts';

export type { ChainSettings } from './select.ts';

/** The user's validated settings: flag before environment before file before default. */
export type Settings = Readonly<ReturnType<typeof loadSettings>>;

/** Port 0 is any free one. */
export type ListenAddress = NonNullable<Settings['http']['listen']>;

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
export const secretsOf = ({ explorer, databaseUrl, http }: Settings): string[] => [
  ...[explorer, ...Object.values(explorer.keys)].flatMap(({ apiKey }) => apiKey ?? []),
  ...[explorer.secretKey, http.token].filter((secret) => secret !== null),
  ...[databaseUrl, explorer.proxy?.httpProxy, explorer.proxy?.httpsProxy].flatMap((url) =>
    url ? passwordsOf(url) : [],
  ),
];

/** The password of a valid URL, as it is written in its login, and decoded. */
export function passwordsOf(url: string): string[] {
  const forms = new Set([parseUrl(url).password, passwordOf(url) ?? '']);
  return [...forms].filter(({ length }) => length >= shortest);
}
