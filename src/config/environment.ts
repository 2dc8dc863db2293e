import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { codeOfFailure } from '../db/failure.ts';
import { tlsProblem } from '../db/url.ts';
import { errorOf } from '../failure.ts';
import { baseUrlProblem, quotesProblem } from './schema.ts';

/** Wrong use or configuration: all problems, each one line. */
export class ConfigError extends errorOf('configuration') {}

/**
 * The program's variables; null if absent or empty, as compose files and CI systems leave them. A secret may also be
 * in the file of `<NAME>_FILE`, relative to `cwd`. Never reports a value.
 */
export function readEnvironment(
  env: NodeJS.ProcessEnv,
  cwd: string,
  report: (message: string) => void,
) {
  /** Null if it is absent or empty, or in quotes. */
  const value = (name: string, text = env[name]): string | null => {
    const trimmed = text?.trim() ?? '';
    const problem = quotesProblem(trimmed);
    if (problem !== null) report(`${name}: ${problem}`);
    return trimmed === '' || problem !== null ? null : trimmed;
  };
  /** A secret by its variable's name or, with `_FILE`, a file's name; null if neither is set. */
  const secret = (name: string): string | null => {
    const direct = value(name);
    const path = value(`${name}_FILE`);
    if (path === null) return direct;
    if (direct !== null) {
      report(`${name} and ${name}_FILE are both set: keep one`);
      return null;
    }
    try {
      const text = readFileSync(resolve(cwd, path), 'utf8');
      if (text.trim() === '') report(`${name}_FILE: ${path} is empty`);
      return value(`${name}_FILE`, text);
    } catch (error) {
      report(`${name}_FILE: cannot read ${path} (${codeOfFailure(error) ?? 'unknown error'})`);
      return null;
    }
  };
  const baseUrl = value('EXPLORER_BASE_URL');
  const problem = baseUrl === null ? null : baseUrlProblem(baseUrl);
  if (problem !== null) report(`EXPLORER_BASE_URL: ${problem}`);
  return {
    secret,
    apiKey: secret('EXPLORER_API_KEY'),
    secretKey: secret('EXPLORER_SECRET_KEY'),
    baseUrl,
    databaseUrl: secret('DATABASE_URL'),
    proxy: proxyOf(value, report),
    configFile: value('EXPLORER_ETL_CONFIG'),
    httpToken: secret('EXPLORER_ETL_HTTP_TOKEN'),
  };
}

/** What runs on this machine, such as `simulate`, needs no proxy. */
const ownHosts = ['localhost', '127.0.0.1', '::1'];

/** The proxies of the explorer, in the form of undici, which would read the environment itself; null: none. */
function proxyOf(value: (name: string) => string | null, report: (message: string) => void) {
  const either = (name: string) => value(name.toLowerCase()) ?? value(name) ?? '';
  const [httpProxy, httpsProxy] = ['HTTP_PROXY', 'HTTPS_PROXY'].map((name) => {
    const text = either(name);
    const isUrl = ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '');
    if (text !== '' && !isUrl) report(`${name}: not an http or https URL`);
    return isUrl ? text : '';
  }) as [string, string];
  if (httpProxy === '' && httpsProxy === '') return null;
  return { httpProxy, httpsProxy, noProxy: [either('NO_PROXY'), ...ownHosts].join() };
}

const encode = 'percent-encode characters such as @ : / ? # % in the user name and password';

/** Stands for an absent host; `.invalid` is reserved (RFC 2606). */
const nowhere = 'nowhere.invalid';

/**
 * What is wrong with a Postgres URL; null: nothing. Its form is libpq's
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS). Repeats only the scheme: in a
 * malformed URL, the password can be anywhere.
 */
export function databaseUrlProblem(text: string): string | null {
  const quotes = quotesProblem(text);
  if (quotes !== null) return quotes;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//iu.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    return 'not a URL: it should read postgres://user:password@host:5432/database';
  }
  if (scheme !== 'postgres' && scheme !== 'postgresql') {
    return `the scheme is ${scheme}, not postgres or postgresql`;
  }
  // A socket's URL may have no host after the user, which URL refuses; pg fills it in likewise.
  const url = URL.parse(text) ?? URL.parse(text.replace('@/', `@${nowhere}/`));
  if (url === null) return `not a valid URL: check host and port, and ${encode}`;
  // An unencoded # or / in a password ends the host early.
  if (url.hash !== '' || url.pathname.includes('@') || url.search.includes('@')) {
    return `misplaced # or @: ${encode}`;
  }
  const tls = tlsProblem(url);
  if (tls !== null) return tls;
  const namesHost = url.hostname !== '' && url.hostname !== nowhere;
  if (!namesHost && !url.searchParams.has('host')) return 'it names no host';
  try {
    decodeURIComponent(url.username + url.password + url.pathname);
    return null;
  } catch {
    return `broken percent-encoding: ${encode}`;
  }
}
