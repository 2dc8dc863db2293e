/** Parses a Postgres URL. A socket's may lack a host; one is added, as in node-postgres. */
export const parseUrl = (url: string): URL =>
  URL.parse(url) ?? new URL(url.replace('@/', '@nowhere.invalid/'));

/** The password in a URL's login or parameters, decoded: of several the last, as node-postgres; null: it has none. */
export function passwordOf(url: string): string | null {
  const { password, searchParams } = parseUrl(url);
  return (
    searchParams.getAll('password').at(-1) ??
    (password === '' ? null : decodeURIComponent(password))
  );
}

/** Those of libpq but `allow`, and node-postgres' own. */
const modes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** What is wrong with a URL's parameters for TLS; null: nothing. */
export function tlsProblem({ searchParams }: Pick<URL, 'searchParams'>): string | null {
  const mode = searchParams.get('sslmode');
  if (mode !== null && !modes.includes(mode)) return `sslmode must be one of ${modes.join(', ')}`;
  return mode === 'verify-ca' && !searchParams.has('sslrootcert')
    ? 'sslmode=verify-ca needs sslrootcert=, the file of the CA; verify-full also accepts public CAs'
    : null;
}

/**
 * The URL for node-postgres, which by itself verifies the server in any mode, with a warning
 * (https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-SSLMODE-STATEMENTS).
 */
export function asInLibpq(url: string): string {
  const changed = parseUrl(url);
  const { searchParams: params } = changed;
  if (params.get('sslrootcert') === 'system') {
    params.delete('sslrootcert');
    params.set('sslmode', 'verify-full');
  }
  const mode = params.get('sslmode');
  if (mode === null || mode === 'no-verify') return url;
  params.set('uselibpqcompat', 'true');
  return changed.href;
}

/** By Node's codes (https://nodejs.org/api/tls.html), texts of node-postgres and of Postgres. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/ERR_TLS_CERT_ALTNAME_INVALID/u, "use such a name as the host in the database's URL"],
  [/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/u, 'renew it on the server, or correct the clock'],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER|VERIFY)|CERT_UNTRUSTED|INVALID_CA/u,
    "add sslrootcert=FILE, the file of its CA, to the database's URL; sslmode=require encrypts without verifying",
  ],
  [/, open '/u, "correct sslrootcert, sslcert or sslkey in the database's URL"],
  [/does not support SSL/u, "sslmode=disable in the database's URL connects without encryption"],
  [/no pg_hba\.conf entry .*no encryption/u, "add sslmode=require to the database's URL"],
];

/** What to do about a connection that failed for its encryption, after a semicolon; empty: it did not. */
export function tlsRemedy(failure: string): string {
  const remedy = remedies.find(([pattern]) => pattern.test(failure))?.[1];
  return remedy === undefined ? '' : `; ${remedy}`;
}
