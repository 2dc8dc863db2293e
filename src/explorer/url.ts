/** A request of an operation, without credentials. */
export interface ExplorerRequest {
  readonly chainId: number;
  /** Below `/{chain}/api/v2/`, without a query. */
  readonly path: string;
  /** Parameters that the operation declares; the service answers others with 422. */
  readonly query: Readonly<Record<string, string | number>>;
}

/** What authenticates a request: the query parameters `apikey` and, where it is set, `key`. */
export interface Credentials {
  readonly apiKey: string;
  readonly secretKey?: string | undefined;
}

/**
 * The URL of a request, secrets included: never to be logged or put into an error. Credentials
 * are set last, so that a cursor which echoes `key` can neither replace nor add one.
 */
export function requestUrl(
  baseUrl: string,
  request: ExplorerRequest,
  credentials: Credentials,
): URL {
  const base = baseUrl.replace(/\/+$/u, '');
  const url = new URL(`${base}/${request.chainId}/api/v2/${request.path}`);
  for (const [name, value] of Object.entries(request.query)) {
    url.searchParams.set(name, String(value));
  }
  url.searchParams.set('apikey', credentials.apiKey);
  url.searchParams.delete('key');
  if (credentials.secretKey !== undefined) url.searchParams.set('key', credentials.secretKey);
  return url;
}
