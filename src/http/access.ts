import { hash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';

/** Where a server listens. */
export interface Address {
  /** A name or an IP address, without brackets. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** Who may read: anyone who is on this machine, or has the token. */
export interface Access {
  /** Null: none is needed. */
  readonly token: string | null;
  /** Further names by which browsers reach the server. */
  readonly hosts: readonly string[];
}

/** Whether only programs of this machine reach it. */
export const isLoopback = ({ host }: Pick<Address, 'host'>): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** As a URL has it. */
export const addressText = ({ host, port }: Address): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

/** Nothing from other sites, nothing inline, in no frame. */
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
    // The proxy that adds TLS decides it.
    strictTransportSecurity: false,
  });

/** No cache keeps an answer. */
export const uncached: MiddlewareHandler = async (context, next) => {
  await next();
  context.header('cache-control', 'no-store');
};

const ownNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Refuses unknown names: another site's name may be made to lead here (DNS rebinding). With a token that gains
 * nothing, so any name will do unless some are configured.
 */
export function knownHosts({ token, hosts }: Access): MiddlewareHandler {
  const known = new Set([...ownNames, ...hosts.map((host) => host.toLowerCase())]);
  const isOpen = token !== null && hosts.length === 0;
  return async (context, next) => {
    const name = URL.parse(`http://${context.req.header('host') ?? ''}`)?.hostname;
    if (name !== undefined && (isOpen || known.has(name))) return next();
    return context.text('Unknown host. Use localhost, or list the name under http.hosts.\n', 421);
  };
}

/** Refuses requests of another site's page, and methods that write. */
export const ownSite: MiddlewareHandler = async (context, next) => {
  const { method } = context.req;
  if (method !== 'GET' && method !== 'HEAD') {
    return context.text('Only GET and HEAD: nothing here writes.\n', 405, { allow: 'GET, HEAD' });
  }
  const origin = context.req.header('origin');
  const isForeign =
    origin !== undefined && URL.parse(origin)?.host !== context.req.header('host')?.toLowerCase();
  // A link of another site may lead here, but its page may not read, nor show this one in a frame.
  const isHidden =
    context.req.header('sec-fetch-site') === 'cross-site' &&
    context.req.header('sec-fetch-dest') !== 'document';
  if (isForeign || isHidden) return context.text('The request is from another site.\n', 403);
  return next();
};

/** Lets in who sends the token in the Authorization header. No URL holds it: URLs are logged and remembered. */
export const requireToken =
  (token: string): MiddlewareHandler =>
  async (context, next) => {
    const { authorization = '' } = context.req.header();
    const sent = /^Bearer (?<token>.+)$/u.exec(authorization)?.groups?.['token'];
    if (sent !== undefined && isSame(sent, token)) return next();
    context.header('www-authenticate', 'Bearer');
    return context.text('A token is needed: Authorization: Bearer <token>.\n', 401);
  };

/** Takes as long for a token that is nearly right as for any other. */
const isSame = (sent: string, wanted: string): boolean =>
  timingSafeEqual(hash('sha256', sent, 'buffer'), hash('sha256', wanted, 'buffer'));
