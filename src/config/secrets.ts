import { parseUrl } from '../db/timeouts.ts';
import type { Settings } from './settings.ts';

/** A shorter password would blacken every second word; in a URL it is found by its place. */
const shortest = 4;

/** All that no line may hold, of what the settings say: keys, tokens, passwords of databases, the webhook's path. */
export const secretsOf = ({
  explorer,
  databaseUrl,
  directUrl,
  notifyUrl,
  http,
}: Settings): string[] => [
  ...[explorer.apiKey, explorer.secretKey, http.token, ...namedKeys(explorer)].filter(
    (key) => key !== null,
  ),
  ...[databaseUrl, directUrl].flatMap((url) => (url === null ? [] : passwordsOf(url))),
  ...(notifyUrl === null ? [] : secretsOfWebhook(notifyUrl)),
];

/** Parts of a path that are as long are tokens, and no words such as `services` or `webhooks`. */
const shortestToken = 12;

/** What follows the host, as a whole and each part that may be a token: scheme and host alone are told. */
export function secretsOfWebhook(text: string): string[] {
  const url = new URL(text);
  const rest = `${url.pathname}${url.search}`;
  const parts = url.pathname.split('/').filter(({ length }) => length >= shortestToken);
  const values = [...url.searchParams.values()].filter(({ length }) => length >= shortestToken);
  const whole = rest.length > shortest ? [text, url.href, rest] : [];
  return [...new Set([...whole, ...[...parts, ...values].flatMap((one) => [one, decoded(one)])])];
}

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
