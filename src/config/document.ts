import { isMap, isSeq, LineCounter, parseDocument, type Document } from 'yaml';
import type { Problem } from './error.ts';
import { nearest } from './nearest.ts';
import { configJsonSchema, configSchema, type Config } from './schema.ts';

type Path = readonly PropertyKey[];

/** The issues that zod finds, as far as they are looked at here. */
type Issue = NonNullable<ReturnType<typeof configSchema.safeParse>['error']>['issues'][number];

/**
 * The configuration in a YAML text, or every problem in it with its line. `name` is the file's
 * name in the problems. No value is ever repeated: a secret may stand in the wrong place.
 */
export function parseConfig(text: string, name: string): Config | Problem[] {
  const lines = new LineCounter();
  // Pretty errors quote the source, secrets included.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => `${name}:${lines.linePos(offset).line}`;
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    return faults.map(({ code, message, pos }) => ({
      message: `not valid YAML: ${safe.has(code) ? message : code.toLowerCase().replaceAll('_', ' ')}`,
      where: at(skipSpace(text, pos[0])),
    }));
  }
  const content = unfold(document);
  if (content === null)
    return [{ message: 'not valid YAML: an alias is unknown or endless', where: name }];
  const result = configSchema.safeParse(content.value ?? {});
  if (result.success) return result.data;
  return result.error.issues
    .flatMap((issue) => problems(issue))
    .map(({ path, message }) => ({ message, offset: offsetOf(document, path) }))
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ message, offset }) => ({ message, where: at(offset) }));
}

/** YAML errors whose message repeats nothing of the source. */
const safe = new Set<string>([
  'BAD_INDENT',
  'BAD_SCALAR_START',
  'BLOCK_AS_IMPLICIT_KEY',
  'BLOCK_IN_FLOW',
  'DUPLICATE_KEY',
  'IMPOSSIBLE',
  'MISSING_CHAR',
  'MULTILINE_IMPLICIT_KEY',
  'MULTIPLE_DOCS',
  'TAB_AS_INDENT',
]);

/** Some errors are placed at the end of the line before the one they are about. */
const skipSpace = (text: string, offset: number): number =>
  offset + Math.max(text.slice(offset).search(/\S/u), 0);

/** The document as plain data; null where an alias has no anchor or unfolds beyond yaml's limit. */
function unfold(document: Document.Parsed): { value: unknown } | null {
  try {
    return { value: document.toJS() };
  } catch (error) {
    if (error instanceof ReferenceError) return null;
    throw error;
  }
}

/** Keys of people who put a secret where it should not be, without their separators. */
const secretKey =
  /^(?:explorer)?(?:apikey|key|secret|secretkey|token|password|databaseurl|databaseurldirect|directurl|connectionstring)$/u;

/** Where such a secret belongs, the first that matches. */
const variables: readonly (readonly [RegExp, string])[] = [
  [/direct/u, 'DATABASE_URL_DIRECT'],
  [/database|connection|password/u, 'DATABASE_URL'],
  [/secret|^key$/u, 'EXPLORER_SECRET_KEY'],
  [/./u, 'EXPLORER_API_KEY'],
];

function problems(issue: Issue): { path: Path; message: string }[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      message: unknownKey(issue.path, key),
    }));
  }
  const subject = issue.path.length === 0 ? 'the file' : show(issue.path);
  const message = issue.message.replace(/^Invalid input: /u, '');
  return [{ path: issue.path, message: `${subject}: ${message}` }];
}

function unknownKey(path: Path, key: string): string {
  const plainKey = key.toLowerCase().replaceAll(/[^a-z]/gu, '');
  if (secretKey.test(plainKey)) {
    const [, variable] = variables.find(([pattern]) => pattern.test(plainKey)) ?? [];
    return `${show([...path, key])}: secrets do not belong in this file: set ${variable} (or ${variable}_FILE) in the environment`;
  }
  const known = knownKeys(path);
  const guess = nearest(key, known);
  const advice = guess === null ? `known are ${known.join(', ')}` : `did you mean ${guess}?`;
  return `${show([...path, key])}: unknown key; ${advice}`;
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
}

/** The keys that the schema knows at a path. */
function knownKeys(path: Path): string[] {
  let node = JSON.parse(configJsonSchema()) as SchemaNode | undefined;
  for (const step of path) {
    node = concrete(node);
    node = typeof step === 'number' ? node?.items : node?.properties?.[String(step)];
  }
  return Object.keys(concrete(node)?.properties ?? {});
}

/** Without the alternative `null` that most keys have. */
const concrete = (node: SchemaNode | undefined): SchemaNode | undefined =>
  node?.anyOf?.find(({ properties, items }) => (properties ?? items) !== undefined) ?? node;

const show = (path: Path): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./u, '');

/** Where a path stands in the source; for a key that is missing, its nearest parent. */
function offsetOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range[0] ?? 0;
  for (const step of path) {
    const pair = isMap<Ranged>(node)
      ? node.items.find(({ key }) => String(key.value) === String(step))
      : undefined;
    const named = pair ? pair.key : isSeq<Ranged>(node) ? node.items[Number(step)] : undefined;
    if (!named?.range) break;
    [offset] = named.range;
    node = pair ? pair.value : named;
  }
  return offset;
}

interface Ranged {
  readonly value?: unknown;
  readonly range?: readonly [start: number, ...ends: number[]] | null;
}
