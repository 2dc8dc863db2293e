import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import type { Html } from '../page/html.ts';

/** Nothing of elsewhere, nothing inline, in nobody's frame. */
export const headers = (): MiddlewareHandler =>
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    xFrameOptions: 'DENY',
    referrerPolicy: 'same-origin',
    crossOriginResourcePolicy: 'same-origin',
    // Whoever puts TLS in front decides it.
    strictTransportSecurity: false,
  });

/** Answers tell of one's data: no cache keeps them unless the handler says so. */
export const uncached: MiddlewareHandler = async (context, next) => {
  await next();
  if (!context.res.headers.has('cache-control')) context.header('cache-control', 'no-store');
};

const ownNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Refuses whoever came by another name: a page of elsewhere whose name was made to lead here (DNS rebinding).
 * With a token that gains nothing, so any name will do there, unless names are given.
 */
export function knownHosts(options: {
  readonly hosts: readonly string[];
  readonly hasToken: boolean;
}): MiddlewareHandler {
  const known = new Set([...ownNames, ...options.hosts.map((host) => host.toLowerCase())]);
  const isOpen = options.hasToken && options.hosts.length === 0;
  return async (context, next) => {
    const name = URL.parse(`http://${context.req.header('host') ?? ''}`)?.hostname;
    if (name !== undefined && (isOpen || known.has(name))) return next();
    return context.text(
      'This name is not known here. Use localhost, or list the name under http.hosts.\n',
      421,
    );
  };
}

/** Refuses what another site's page asks for, and what would write. */
export const ownSite: MiddlewareHandler = async (context, next) => {
  const { method } = context.req;
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isRead) {
    return context.text('Only GET and HEAD: nothing here writes.\n', 405, { allow: 'GET, HEAD' });
  }
  const origin = context.req.header('origin');
  const isForeign =
    origin !== undefined && URL.parse(origin)?.host !== context.req.header('host')?.toLowerCase();
  // A link of elsewhere may lead here, but nothing of elsewhere may ask behind one's back, nor in a frame.
  const isBehind =
    context.req.header('sec-fetch-site') === 'cross-site' &&
    context.req.header('sec-fetch-dest') !== 'document';
  if (isForeign || isBehind) return context.text('Asked by a page of elsewhere.\n', 403);
  return next();
};

/** Lets in who shows the token in the Authorization header. A browser gets the page without its data, to show it by. */
export const demandToken =
  (token: string, shell: Html): MiddlewareHandler =>
  async (context, next) => {
    const { authorization = '', accept = '' } = context.req.header();
    const shown = /^Bearer (?<token>.+)$/u.exec(authorization)?.groups?.['token'];
    if (shown !== undefined && isSame(shown, token)) return next();
    context.header('www-authenticate', 'Bearer');
    if (accept.includes('text/html')) return context.html(shell, 401);
    return context.text('A token is needed: Authorization: Bearer <token>.\n', 401);
  };

/** Takes as long for a token that is nearly right as for any other. */
const isSame = (shown: string, wanted: string): boolean =>
  timingSafeEqual(digestOf(shown), digestOf(wanted));

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
