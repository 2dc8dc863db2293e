import { createHash, scryptSync, timingSafeEqual } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Html } from '../page/html.ts';
import { signIn } from '../page/sign-in.ts';

/** What a handler knows of the connection. */
export interface Bindings {
  readonly Bindings: HttpBindings;
}

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
    // With "no-referrer" a browser would say of the form's own site that it is "null" (Fetch standard).
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
  const { method, path } = context.req;
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isRead && !(method === 'POST' && path === signInPath)) {
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

export const signInPath = '/sign-in';
const cookieName = 'explorer_etl';
const cookieBytes = 32;
/** In seconds. */
const cookieAge = 30 * 86_400;

/** So many wrong tokens from one address in so many seconds; then none is looked at. */
const wrongTokens = { points: 10, duration: 60 } as const;

/** Lets in who shows the token: in the Authorization header, or in the form, which leaves a cookie. */
export interface TokenGuard {
  readonly demand: MiddlewareHandler<Bindings>;
  /** Answers the form. */
  readonly accept: (context: Context<Bindings>) => Promise<Response>;
}

/** @param asset the path of a file that the page loads */
export function createTokenGuard(token: string, asset: (name: string) => string): TokenGuard {
  const limit = new RateLimiterMemory(wrongTokens);
  // What a browser keeps is not the token, and a changed token ends it. Slow to make, so that a token is slow
  // to guess by it: a right one is let in also where wrong ones are refused.
  const cookie = scryptSync(token, 'explorer-etl page', cookieBytes).toString('hex');
  const form = (wasWrong: boolean): Html => signIn({ wasWrong, asset });

  /** Shown again by all that an old page asks for, which is no other guess. */
  let lastWrong = '';

  /** Seconds to wait; 0 where another try may be made. Counts the one that was wrong. */
  const waitAfter = async (context: Context<Bindings>, isWrong: boolean): Promise<number> => {
    const from = originOf(context.env.incoming.socket.remoteAddress ?? '');
    const told: unknown = await limit
      .consume(from, isWrong ? 1 : 0)
      .catch((refused: unknown) => refused);
    return isUsedUp(told) ? Math.ceil(told.msBeforeNext / 1000) : 0;
  };

  return {
    demand: async (context, next) => {
      const kept = getCookie(context, cookieName);
      if (kept !== undefined && isSame(kept, cookie)) return next();
      if (kept !== undefined && kept !== lastWrong) {
        lastWrong = kept;
        await waitAfter(context, true);
      }
      const shown = /^Bearer (?<token>.+)$/u.exec(context.req.header('authorization') ?? '')
        ?.groups?.['token'];
      const waitSeconds = await waitAfter(context, false);
      if (waitSeconds > 0 && shown !== undefined) return refuse(context, waitSeconds);
      if (shown !== undefined && isSame(shown, token)) return next();
      if (shown !== undefined) await waitAfter(context, true);
      context.header('www-authenticate', 'Bearer');
      const isPerson = context.req.header('accept')?.includes('text/html') ?? false;
      if (isPerson) return context.html(form(false), 401);
      return context.text('A token is needed: Authorization: Bearer <token>.\n', 401);
    },
    accept: async (context) => {
      // Before it is counted: many could be begun together, and sent to their ends after.
      const { token: written } = await context.req.parseBody();
      const waitSeconds = await waitAfter(context, false);
      if (waitSeconds > 0) return refuse(context, waitSeconds);
      if (typeof written !== 'string' || !isSame(written.trim(), token)) {
        await waitAfter(context, true);
        return context.html(form(true), 401);
      }
      setCookie(context, cookieName, cookie, {
        httpOnly: true,
        sameSite: 'Strict',
        path: '/',
        maxAge: cookieAge,
        secure: context.req.header('x-forwarded-proto') === 'https',
      });
      return context.redirect('/', 303);
    },
  };
}

const refuse = async (context: Context<Bindings>, waitSeconds: number): Promise<Response> =>
  context.text(`Too many wrong tokens. Try again in ${waitSeconds} s.\n`, 429, {
    'retry-after': String(waitSeconds),
  });

/** What the limiter rejects with where no point is left, or it would be with the next one. */
const isUsedUp = (told: unknown): told is { readonly msBeforeNext: number } =>
  typeof told === 'object' &&
  told !== null &&
  'remainingPoints' in told &&
  told.remainingPoints === 0 &&
  'msBeforeNext' in told;

/** One who has an IPv6 address has 2^64 of them. */
const originOf = (address: string): string =>
  isIPv6(address) && !address.startsWith('::') ? address.split(':').slice(0, 4).join(':') : address;

/** Takes as long for a token that is nearly right as for any other. */
const isSame = (shown: string, wanted: string): boolean =>
  timingSafeEqual(digestOf(shown), digestOf(wanted));

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
