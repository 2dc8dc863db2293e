import { z } from 'zod';
/** A problem that a person can fix. */
export interface Problem {
  /** What is wrong and what to do; holds no secret. */
  readonly message: string;
  /** Such as `explorer-etl.yaml:7`; null: no place in a file. */
  readonly where: string | null;
  /** The bare command that helps, such as `explorer-etl init`. */
  readonly command?: string | undefined;
}

/** Of errors that a person can fix, for programs to branch on. */
export const knownKinds = [
  'usage',
  'configuration',
  'listen',
  'database-unavailable',
  'embedded-postgres',
  'migration',
  'pooler',
  'standby',
  'statement',
  'statement-timeout',
  'export',
  'other-explorer',
  'other-deployment',
] as const;
type KnownKind = (typeof knownKinds)[number];

/** An error that a person can fix: its problems say how. */
export abstract class KnownError extends Error {
  abstract readonly kind: KnownKind;
  readonly problems: readonly Problem[];

  constructor(
    says: string | readonly Problem[],
    { command, ...options }: ErrorOptions & { readonly command?: string } = {},
  ) {
    const problems = typeof says === 'string' ? [{ message: says, where: null, command }] : says;
    const lines = problems.map(({ message, where }) => [where ?? [], message].flat().join(': '));
    super(lines.join('\n'), options);
    this.name = new.target.name;
    this.problems = problems;
  }
}

/** The base class of a kind's errors. */
export const errorOf = (kind: KnownKind) =>
  class extends KnownError {
    override readonly kind = kind;
  };

/** What a class means for the request, the feed and the user. */
export interface FailureRule {
  /**
   * The same request after a short wait, which counts as a failure or, if it was throttled, as a wait; 'none': repeating
   * cannot help.
   */
  readonly retry: 'as-failure' | 'as-wait' | 'none';
  readonly stops: 'nothing' | 'walk' | 'feed' | 'key' | 'worker';
  /**
   * When `start` resumes the feed: after growing waits, at the stated time, when one poll finds the key fixed, after as
   * long as it is not served, at most a day, with the next run, or at once.
   */
  readonly nextTry: 'growing' | 'stated' | 'poll' | 'daily' | 'next-run' | 'at-once';
  /** The feed's state until it succeeds (`feedStates` of the status document); null: unchanged. */
  readonly feed: 'failing' | 'blocked' | 'unsupported' | null;
  /** The exit code of `sync` if nothing else failed; 2: only a person can fix it. */
  readonly exit: 0 | 1 | 2;
  /** Null: no event. */
  readonly log:
    | 'key.waiting'
    | 'key.refused'
    | 'chain.unknown'
    | 'feed.failure'
    | 'feed.failed'
    | 'feed.internal-error'
    | 'queue.failure'
    | 'database.away'
    | null;
  /** What to do, in one sentence. */
  readonly advice: string;
  /** Whether it can be a fact about the explorer as a whole (`explorer/host.ts`). */
  readonly isOfHost?: true;
}

type Handling = Omit<FailureRule, 'advice' | 'isOfHost'>;

const failed: Handling = {
  retry: 'none',
  stops: 'feed',
  nextTry: 'next-run',
  feed: 'failing',
  exit: 1,
  log: 'feed.failed',
};
const degraded: Handling = { ...failed, nextTry: 'growing', log: 'feed.failure' };
const waiting: Handling = {
  ...failed,
  stops: 'key',
  nextTry: 'stated',
  feed: 'blocked',
  log: 'key.waiting',
};
const refused: Handling = {
  ...failed,
  stops: 'key',
  nextTry: 'poll',
  feed: 'blocked',
  log: 'key.refused',
};
const unserved: Handling = {
  ...failed,
  nextTry: 'daily',
  feed: 'unsupported',
  log: 'feed.failure',
};
/** `start` resumes after waits that grow, and says so in `database.away`. */
const ofDatabase: Handling = {
  ...degraded,
  stops: 'worker',
  exit: 2,
  log: 'database.away',
};
const lost: Handling = {
  ...failed,
  stops: 'worker',
  nextTry: 'at-once',
  feed: null,
  log: 'queue.failure',
};

/** The only table from class to action (docs/operating.md). */
const rules = {
  unreachable: {
    ...degraded,
    retry: 'as-failure',
    isOfHost: true,
    advice:
      'Nothing to do: start retries it at growing intervals; check the network and EXPLORER_BASE_URL if it lasts.',
  },
  throttled: {
    ...waiting,
    retry: 'as-wait',
    advice:
      'Nothing to do: it continues when the rate allows; lower explorer.requests_per_second if others share the key.',
  },
  'out-of-credits': {
    ...waiting,
    advice: 'Nothing to do: it continues after the reset; a larger plan allows more.',
  },
  'daily-limit': {
    ...waiting,
    advice:
      'Nothing to do: it continues at the stated time; daily_credits in the configuration, if set, is the limit.',
  },
  'history-share': {
    ...failed,
    nextTry: 'stated',
    feed: null,
    log: 'key.waiting',
    advice:
      'Nothing to do: new data is read meanwhile, and history continues at the stated time; daily_credits in the configuration, if set, is the limit.',
  },
  unauthorized: {
    ...refused,
    advice:
      'The explorer does not accept the API key: correct EXPLORER_API_KEY, or the variable that the configuration names for this chain, and restart.',
  },
  'key-missing': {
    ...refused,
    advice:
      'The explorer received no API key: set EXPLORER_API_KEY, or the variable that the configuration names for this chain, and restart.',
  },
  forbidden: {
    ...degraded,
    advice:
      'The explorer refuses this list to this key: check the plan of the key, or remove the list from the configuration; start retries it at growing intervals.',
  },
  intercepted: {
    ...degraded,
    retry: 'as-failure',
    isOfHost: true,
    advice:
      'A firewall, proxy or login page answers instead of the explorer: let this program through, or correct EXPLORER_BASE_URL; start retries it at growing intervals.',
  },
  unsupported: {
    ...unserved,
    exit: 0,
    advice:
      'The explorer does not serve this operation on this chain: remove it from the configuration, or let start try it once a day.',
  },
  'unknown-chain': {
    ...unserved,
    log: 'chain.unknown',
    advice:
      'The explorer does not serve this chain: check its number, or remove it from the configuration.',
  },
  'not-found': {
    ...unserved,
    retry: 'as-failure',
    nextTry: 'growing',
    advice:
      'Nothing is served at this address: check the path of base_url (or EXPLORER_BASE_URL) and the chain; if both are right, the explorer does not serve this list.',
  },
  rejected: {
    ...failed,
    feed: 'blocked',
    advice:
      'The explorer refused a parameter: compare the configuration of this feed with its message.',
  },
  'cursor-refused': {
    ...failed,
    stops: 'walk',
    advice:
      'Nothing to do: this walk is abandoned, its rows stay, and the next one enters at the head or an earlier page.',
  },
  'envelope-invalid': {
    ...degraded,
    retry: 'as-failure',
    advice:
      'The explorer returned something that is not a page: it is requested again later; report it if it lasts.',
  },
  'cursor-loop': {
    ...failed,
    stops: 'walk',
    advice:
      'The explorer returned a cursor that this walk has used before: rows are kept; report it to the service.',
  },
  truncated: {
    ...degraded,
    advice:
      'The explorer ends the list, or leaves its head empty, where it shows more elsewhere: the list is requested again later; report it if it lasts.',
  },
  unordered: {
    ...failed,
    stops: 'nothing',
    exit: 0,
    log: null,
    advice:
      'Nothing to do: what is not verified is read again; report it to the service if it lasts.',
  },
  'not-stored': {
    ...degraded,
    advice: 'Nothing is lost: start retries it at growing intervals; report it if it lasts.',
  },
  'internal-error': {
    ...failed,
    log: 'feed.internal-error',
    advice:
      'This is a defect of explorer-etl: report it with the stack in the log; rows are kept, and the next run retries.',
  },
  'database-unreachable': {
    ...lost,
    advice:
      'Start the database: nothing is half-written, and start continues as soon as it answers.',
  },
  'database-connections': {
    ...lost,
    advice:
      'The database has no connection left: raise max_connections or the limit of the role (a process uses 12), or end other sessions.',
  },
  'database-login': {
    ...ofDatabase,
    advice:
      'The database refuses the login: correct DATABASE_URL. A running start reads DATABASE_URL_FILE again before each attempt.',
  },
  'database-read-only': {
    ...ofDatabase,
    advice:
      'The database refuses writes: name the primary in DATABASE_URL, or set default_transaction_read_only to off.',
  },
  'database-full': {
    ...ofDatabase,
    stops: 'feed',
    exit: 1,
    log: 'feed.failure',
    advice:
      'The disk of the database is full: free some space, or enlarge it. Nothing is half-written, and start continues by itself.',
  },
  'database-permission': {
    ...ofDatabase,
    stops: 'feed',
    log: 'feed.failure',
    advice:
      'The role of DATABASE_URL lacks a right: run migrate --roles as the owner, and make the role a member of explorer_etl_worker.',
  },
  'database-object': {
    ...ofDatabase,
    stops: 'feed',
    log: 'feed.failure',
    advice:
      'A table, column or function is missing: restore it from a backup; migrate creates views and functions again.',
  },
} satisfies Readonly<Record<string, FailureRule>>;

/** When the same run may succeed with nothing changed. */
export const passing: ReadonlySet<FailureRule['nextTry']> = new Set(['growing', 'stated', 'poll']);

export type FailureClass = keyof typeof rules;

export const failures: Readonly<Record<FailureClass, FailureRule>> = rules;
export const failureClasses = Object.keys(rules) as FailureClass[];

/** Why a feed, run or walk is not as it should be, for programs and for people. */
export const whyShape = () =>
  // Null: of no class.
  z.object({ failure: z.enum(failureClasses).nullable(), reason: z.string() });
export type Why = Readonly<z.infer<ReturnType<typeof whyShape>>>;

/** Of codes of Node and undici for connections that could not be made or broke; other messages are plain. */
const systemLabels: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  EADDRNOTAVAIL: 'no local address left',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'host name lookup failed',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection closed',
  ETIMEDOUT: 'connection timed out',
  ENOENT: 'no such socket',
  UND_ERR_SOCKET: 'connection closed before the whole answer',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped half-way',
};

/** The texts of OpenSSL's errors name its functions and files, and differ in each process. */
export const isTlsError = (code: string): boolean => /^(?:EPROTO|ERR_SSL_)/u.test(code);

export const systemLabel = (code: string): string | null =>
  isTlsError(code) ? 'no TLS connection can be agreed on' : (systemLabels[code] ?? null);
