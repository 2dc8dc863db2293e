const encode = 'percent-encode characters such as @ : / ? # % in the user name and password';

/** Stands for a host that is not there; `.invalid` is nobody's (RFC 2606). */
const nowhere = 'nowhere.invalid';

/**
 * What is wrong with a Postgres URL; null when nothing is. The form is libpq's
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS). Never
 * repeats any part of the URL but its scheme: where it is malformed, the password can be anywhere.
 */
export function databaseUrlProblem(text: string): string | null {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//iu.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    return 'not a URL: it should read postgres://user:password@host:5432/database';
  }
  if (scheme !== 'postgres' && scheme !== 'postgresql') {
    return `the scheme is ${scheme}, not postgres or postgresql`;
  }
  // A socket's URL may name no host after the user, which URL refuses; pg fills it in likewise.
  const url = URL.parse(text) ?? URL.parse(text.replace('@/', `@${nowhere}/`));
  if (url === null) return `not a valid URL: check host and port, and ${encode}`;
  // A bare # or / in a password ends the host early and leaves the rest behind it.
  if (url.hash !== '' || url.pathname.includes('@') || url.search.includes('@')) {
    return `misplaced # or @: ${encode}`;
  }
  const namesHost = url.hostname !== '' && url.hostname !== nowhere;
  if (!namesHost && !url.searchParams.has('host')) return 'it names no host';
  return isDecodable(url) ? null : `broken percent-encoding: ${encode}`;
}

function isDecodable(url: URL): boolean {
  try {
    decodeURIComponent(url.username + url.password + url.pathname);
    return true;
  } catch {
    return false;
  }
}
