import { hash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';

export interface Address {
  /** A name or an IP address, without brackets. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** Readers are programs on this machine, or have the token. */
export interface Access {
  /** Null: not required. */
  readonly token: string | null;
  /** Further names of the server in browsers. */
  readonly hosts: readonly string[];
}

export const addressText = ({ host, port }: Address): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

/** No content from other sites, no inline code, no frames. */
export const headers = (): MiddlewareHandler =>
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    xFrameOptions: 'DENY',
    referrerPolicy: 'same-origin',
    crossOriginResourcePolicy: 'same-origin',
    // Left to the proxy that adds TLS.
    strictTransportSecurity: false,
  });

export const uncached: MiddlewareHandler = async (context, next) => {
  await next();
  context.header('cache-control', 'no-store');
};

/** Refuses unknown host names against DNS rebinding. With a token, the names are optional. */
export function knownHosts({ token, hosts }: Access): MiddlewareHandler {
  const own = ['localhost', '127.0.0.1', '[::1]'];
  const known = new Set([...own, ...hosts.map((host) => host.toLowerCase())]);
  const isOpen = token !== null && hosts.length === 0;
  return async (context, next) => {
    const name = URL.parse(`http://${context.req.header('host') ?? ''}`)?.hostname;
    if (name !== undefined && (isOpen || known.has(name))) return next();
    return context.text('Unknown host. Use localhost, or list the name under http.hosts.\n', 421);
  };
}

/** Refuses requests from another site's page, and methods that write. */
export const ownSite: MiddlewareHandler = async (context, next) => {
  const { method } = context.req;
  if (method !== 'GET' && method !== 'HEAD') {
    return context.text('Only GET and HEAD: nothing here writes.\n', 405, { allow: 'GET, HEAD' });
  }
  const origin = context.req.header('origin');
  const isForeign =
    origin !== undefined && URL.parse(origin)?.host !== context.req.header('host')?.toLowerCase();
  // Another site may link here, but may not read or frame this page.
  const isHidden =
    context.req.header('sec-fetch-site') === 'cross-site' &&
    context.req.header('sec-fetch-dest') !== 'document';
  if (isForeign || isHidden) return context.text('The request is from another site.\n', 403);
  return next();
};

/** Requires the token in the Authorization header, because URLs are logged and remembered. */
export const requireToken =
  (token: string): MiddlewareHandler =>
  async (context, next) => {
    const { authorization = '' } = context.req.header();
    const sent = /^Bearer (?<token>.+)$/u.exec(authorization)?.groups?.['token'];
    // Digests are of one length, which the comparison in constant time needs.
    if (sent && timingSafeEqual(digest(sent), digest(token))) return next();
    context.header('www-authenticate', 'Bearer');
    return context.text('A token is needed: Authorization: Bearer <token>.\n', 401);
  };

const digest = (text: string) => hash('sha256', text, 'buffer');
