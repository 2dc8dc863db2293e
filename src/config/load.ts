import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { relative, resolve } from 'node:path';
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
} from 'yaml';
import { z } from 'zod';
import { codeOfFailure } from '../db/failure.ts';
import type { Problem } from '../failure.ts';
import { isForeign } from '../owner.ts';
import { ConfigError, databaseUrlProblem, readEnvironment } from './environment.ts';
import { type Config, configSchema, database, defaultListen, explorer } from './schema.ts';
import { nearest } from './nearest.ts';
import { type ChainSettings, selectChains } from './select.ts';

/** The default file, in the working directory. */
export const configFileName = 'explorer-etl.yaml';

/** A shorter token could be guessed. */
const shortestToken = 16;

export const defaultBaseUrl = 'https://api.blockscout.com';

export interface SettingsInput {
  readonly env: NodeJS.ProcessEnv;
  /** Base of relative paths. */
  readonly cwd: string;
  /** Null: no file, also none that is in `cwd`. */
  readonly configFile?: string | null | undefined;
  readonly databaseUrl?: string | undefined;
  readonly chains?: readonly string[] | undefined;
  readonly operations?: readonly string[] | undefined;
  /** 'database': the command needs no chain, such as migrate. 'file': it takes none from flags. Default 'chains'. */
  readonly need?: 'chains' | 'file' | 'database';
}

/**
 * All settings, or one ConfigError with every problem. Flags override the environment, that the file, that the
 * defaults. `requireApiKey` checks the API key, because not every command makes requests.
 */
export function loadSettings(input: SettingsInput) {
  const problems: Problem[] = [];
  const report = (message: string): void => void problems.push({ message, where: null });
  const environment = readEnvironment(input.env, input.cwd, report);
  const databaseUrl = input.databaseUrl ?? environment.databaseUrl;
  const urlProblem = databaseUrl === null ? null : databaseUrlProblem(databaseUrl);
  const urlName = input.databaseUrl === undefined ? 'DATABASE_URL' : '--database-url';
  if (urlProblem !== null) report(`${urlName}: ${urlProblem}`);
  if (environment.httpToken !== null && environment.httpToken.length < shortestToken) {
    report(
      `EXPLORER_ETL_HTTP_TOKEN is shorter than ${shortestToken} characters: make one with "openssl rand -hex 24"`,
    );
  }
  const named = input.configFile ?? environment.configFile;
  const configFile = findConfig(input, named);
  const config = configFile === null ? {} : readConfig(configFile, input.cwd, named !== null);
  if (Array.isArray(config)) throw new ConfigError([...problems, ...config]);
  const selection = { chains: input.chains ?? [], operations: input.operations ?? [] };
  const listed = config.chains ?? [];
  const chains: readonly ChainSettings[] = selectChains(listed, selection, report);
  const isEmpty = listed.length === 0 && selection.chains.length === 0;
  if (isEmpty && input.need !== 'database') problems.push(noChain(configFile, input));
  const limits = config.explorer ?? explorer.parse({});
  const keys = namedKeys(limits, environment.secret);
  for (const { id, key } of listed) {
    if (key === undefined || Object.hasOwn(keys, key)) continue;
    report(`chain ${id}: key ${key} is not among explorer.keys`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    explorer: {
      /** Without a trailing slash. */
      baseUrl: (environment.baseUrl ?? limits.base_url ?? defaultBaseUrl).replace(/\/+$/u, ''),
      apiKey: environment.apiKey,
      /** The optional `key` parameter. */
      secretKey: environment.secretKey,
      /** Null: requests go to the explorer directly. */
      proxy: environment.proxy,
      requestsPerSecond: limits.requests_per_second,
      dailyCredits: limits.daily_credits ?? null,
      pageSize: limits.page_size,
      archive: limits.archive,
      archiveDays: limits.archive_days ?? null,
      ledgerDays: limits.ledger_days ?? null,
      /** By the names that chains refer to. */
      keys,
    },
    /** Null: the embedded Postgres. */
    databaseUrl,
    /** Most connections of a process that works. */
    connections: (config.database ?? database.parse({})).connections,
    chains,
    http: httpSettings(config.http, environment.httpToken),
    /** Absolute path; null: no file. */
    configFile,
    /** The name under which the file wants its feeds; null: no file. */
    deployment: configFile === null ? null : (config.deployment ?? `${hostname()}:${configFile}`),
  };
}

function httpSettings(http: Config['http'], token: string | null) {
  const { listen = defaultListen, metrics = null, hosts = [] } = http ?? {};
  return {
    /** Address of the page; null: none. The `http` key enables it. */
    listen: http === undefined ? null : listen,
    /** Additional address of health and metrics, without a token; null: none. */
    metrics,
    /** Further host names of the page. */
    hosts: hosts as readonly string[],
    /** Access token of the page; null: none is needed. */
    token,
  };
}

type Limits = NonNullable<Config['explorer']>;

export type NamedKey = ReturnType<typeof namedKeys>[string];

/** Further keys; their limits default to those of `explorer`. */
function namedKeys(
  { keys = {}, requests_per_second, daily_credits }: Limits,
  read: (variable: string) => string | null,
) {
  const settingsOf = (key: NonNullable<Limits['keys']>[string]) => ({
    /** The environment variable of the key. */
    variable: key.env,
    apiKey: read(key.env),
    requestsPerSecond: key.requests_per_second ?? requests_per_second,
    /** Null: no limit of ours. */
    dailyCredits: key.daily_credits ?? daily_credits ?? null,
  });
  return Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, settingsOf(key)]));
}

/** The file of the flag or the environment, else the default if it exists; absolute. */
function findConfig({ configFile, cwd }: SettingsInput, named: string | null): string | null {
  if (configFile === null) return null;
  const file = resolve(cwd, named ?? configFileName);
  return named !== null || existsSync(file) ? file : null;
}

function readConfig(path: string, cwd: string, isNamed: boolean): Config | Problem[] {
  const name = asTyped(path, cwd);
  let text: string;
  try {
    const found = isNamed ? readFileSync(path, 'utf8') : readOwn(path);
    if (found === null) return [{ message: foreign, where: name }];
    text = found;
  } catch (error) {
    const code = codeOfFailure(error) ?? 'unknown error';
    const message = `cannot read ${name} (${code}): ${advices[code] ?? 'check --config or EXPLORER_ETL_CONFIG'}`;
    return [{ message, where: null, ...(code === 'ENOENT' && { command: 'explorer-etl init' }) }];
  }
  return parseConfig(text, name);
}

/** Null: another user chooses what it says. A group may write: it is often of its user alone. */
function readOwn(path: string): string | null {
  // Their pipe would make us wait.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return isForeign(fstatSync(file), 0o002) ? null : readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

const foreign = `another user owns it or may write to it, and base_url receives your key: if you trust the file, name it: --config ${configFileName}`;
const advices: Readonly<Record<string, string>> = {
  ENOENT: 'no such file; check --config or EXPLORER_ETL_CONFIG, or write one.',
  EISDIR: `it is a folder; name the file in it, such as ${configFileName}`,
  EACCES: 'let the user who runs explorer-etl read it',
  EPERM: 'let the user who runs explorer-etl read it',
};

/** The path as a user would type it: relative if below the working directory. */
export function asTyped(path: string, cwd: string): string {
  const name = relative(cwd, path);
  return name === '' || name.startsWith('..') ? path : name;
}

function noChain(configFile: string | null, { cwd, need }: SettingsInput): Problem {
  const [flag, orFlag] =
    need === 'file' ? ['', ''] : ['name one, such as --chain 10, or ', ', or name one: --chain 10'];
  const message =
    configFile === null
      ? `${flag}write ${configFileName}.`
      : `list one under chains in ${asTyped(configFile, cwd)}${orFlag}`;
  const command = configFile === null && { command: 'explorer-etl init' };
  return { message: `no chain to copy: ${message}`, where: null, ...command };
}

type Path = readonly PropertyKey[];

type Issue = NonNullable<ReturnType<typeof configSchema.safeParse>['error']>['issues'][number];

/** Parses a YAML text: the configuration, or every problem with its line. Repeats no value. */
export function parseConfig(text: string, name: string): Config | Problem[] {
  const lines = new LineCounter();
  // Pretty errors quote the source, secrets included.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => `${name}:${lines.linePos(offset).line}`;
  const aliases = unknownAliases(document).map((offset) => ({ message: alias, where: at(offset) }));
  // Each further * of an unquoted schedule is a fault.
  if (aliases.length > 0) return aliases;
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    return faults.map(({ code, message, pos }) => {
      const own = sentences[code] ?? code.toLowerCase().replaceAll('_', ' ');
      const where = at(skipSpace(text, pos[0]));
      return { message: `not valid YAML: ${safe.test(code) ? message : own}`, where };
    });
  }
  let content: unknown;
  try {
    content = document.toJS();
  } catch (error) {
    // Beyond yaml's limit.
    if (!(error instanceof ReferenceError)) throw error;
    return [{ message: 'not valid YAML: an alias is endless', where: name }];
  }
  const result = configSchema.safeParse(content ?? {}, { error: knownKeys });
  if (result.success) return result.data;
  return result.error.issues
    .flatMap((issue) => problemsOf(issue))
    .map(({ path, message }) => ({ message, offset: offsetOf(document, path) }))
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ message, offset }) => ({ message, where: at(offset) }));
}

const alias =
  'not valid YAML: a value that begins with * is an alias: quote it, as in "*/5 * * * *"';

/** Offsets of aliases without an anchor, which few know of. */
function unknownAliases(document: Document.Parsed): number[] {
  const offsets: number[] = [];
  visit(document, {
    Alias: (_, node) => {
      if (node.resolve(document) === undefined) offsets.push(node.range?.[0] ?? 0);
    },
  });
  return offsets;
}

/** Ours for some of the others. */
const sentences: Readonly<Record<string, string>> = {
  BAD_SCALAR_START: 'a value begins with a character that has a meaning in YAML: quote it',
  MULTIPLE_DOCS: 'a second document begins here: the file has one, without --- below it',
  TAG_RESOLVE_FAILED: 'a value that begins with ! is a tag: quote it',
};

/** YAML errors whose message does not quote the source. */
const safe =
  /^(?:BAD_INDENT|BLOCK_(?:AS_IMPLICIT_KEY|IN_FLOW)|DUPLICATE_KEY|IMPOSSIBLE|MISSING_CHAR|MULTILINE_IMPLICIT_KEY|TAB_AS_INDENT)$/u;

/** Some errors are placed at the end of the previous line. */
const skipSpace = (text: string, offset: number): number =>
  offset + Math.max(text.slice(offset).search(/\S/u), 0);

/** Keys that people use for a misplaced secret, without separators. */
const secretKey =
  /^(?:explorer)?(?:apikey|key|secret|secretkey|token|password|databaseurl|directurl|connectionstring)$/u;

/** Where such a secret belongs; the first match counts. */
const variables: readonly (readonly [RegExp, string])[] = [
  [/database|directurl|connection|password/u, 'DATABASE_URL'],
  [/secret|^key$/u, 'EXPLORER_SECRET_KEY'],
  [/./u, 'EXPLORER_API_KEY'],
];

function problemsOf(issue: Issue): { path: Path; message: string }[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      message: unknownKey(issue.path, key, issue.message.split(', ')),
    }));
  }
  const subject = issue.path.length === 0 ? 'the file' : show(issue.path);
  const message = issue.message.replace(/^Invalid input: /u, '');
  return [{ path: issue.path, message: `${subject}: ${message}` }];
}

/** The message of unknown keys: those that there are. Other messages are zod's. */
const knownKeys = ({ code, inst }: z.core.$ZodRawIssue): string | undefined =>
  code === 'unrecognized_keys' && inst instanceof z.ZodObject
    ? Object.keys(inst.shape).join(', ')
    : undefined;

function unknownKey(path: Path, key: string, known: readonly string[]): string {
  const plainKey = key.toLowerCase().replaceAll(/[^a-z]/gu, '');
  if (secretKey.test(plainKey)) {
    const [, variable] = variables.find(([pattern]) => pattern.test(plainKey)) ?? [];
    return `${show([...path, key])}: secrets do not belong in this file: set ${variable} (or ${variable}_FILE) in the environment`;
  }
  const guess = nearest(key, known);
  const advice = guess === null ? `known are ${known.join(', ')}` : `did you mean ${guess}?`;
  return `${show([...path, key])}: unknown key; ${advice}`;
}

const show = (path: Path): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./u, '');

/** The offset of a path, at its key; of its nearest parent if it is missing. */
function offsetOf(document: Document.Parsed, path: Path): number {
  if (path.length === 0) return document.contents?.range[0] ?? 0;
  const parent = path.slice(0, -1);
  const map = document.getIn(parent, true);
  const isNamed = ({ key }: Pair) => isScalar(key) && String(key.value) === String(path.at(-1));
  const node = (isMap(map) && map.items.find(isNamed)?.key) || document.getIn(path, true);
  return isNode(node) && node.range ? node.range[0] : offsetOf(document, parent);
}
