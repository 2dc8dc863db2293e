import { parseUrl } from '../db/timeouts.ts';
import type { Settings } from './settings.ts';

/** A shorter password would blacken every second word; in a URL it is found by its place. */
const shortest = 4;

/** All that no line may hold, of what the settings say: keys, tokens, passwords of databases. */
export const secretsOf = ({ explorer, databaseUrl, directUrl, http }: Settings): string[] => [
  ...[explorer.apiKey, explorer.secretKey, http.token, ...namedKeys(explorer)].filter(
    (key) => key !== null,
  ),
  ...[databaseUrl, directUrl].flatMap((url) => (url === null ? [] : passwordsOf(url))),
];

const namedKeys = ({ keys }: Settings['explorer']) =>
  Object.values(keys).map(({ apiKey }) => apiKey);

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
