import { format } from 'prettier';

type Literal = string | number | boolean | null;

/** What is read of a JSON Schema that zod wrote. */
interface Node {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: Literal;
  readonly enum?: readonly Literal[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
}

/** How the commands are called whose documents have other names than they. */
const calls: Readonly<Record<string, string>> = {
  sync: '`sync`, `backfill`, `repair`',
  'demo-stop': '`demo --stop`',
  'query-list': '`query --list`',
  'query-sql': '`query NAME --sql`',
  'simulate-faults': '`simulate --fault list`',
  error: 'any command that failed before it wrote its own',
};

/**
 * The page of all documents that `--json` writes, as Markdown.
 *
 * @param schemas the text of each JSON Schema by the name of its document
 */
export async function documentsPage(schemas: ReadonlyMap<string, string>): Promise<string> {
  const all = [...schemas].map(([name, text]) => [name, JSON.parse(text) as Node] as const);
  const rows = all.map(([name, node]) => {
    const { schema, exit: _, ...own } = node.properties ?? {};
    const names = Object.keys(own).map(code).join(', ');
    return `| [${code(String(schema?.const))}](#${name}) | ${callOf(name)} | ${names} |`;
  });
  const page = [
    introduction,
    ['| schema | command | its own fields |', '| --- | --- | --- |', ...rows].join('\n'),
    ...all.map(describe),
  ];
  return format(page.join('\n\n'), { parser: 'markdown' });
}

const introduction = `# The documents of --json

<!-- Made by npm run schema from src/documents. Do not edit. -->

Each command writes one of these documents with \`--json\` ([how to use them](json.md)). Every document has \`schema\`,
which is its name and version, and \`exit\`, which is \`code\` and \`reason\`; one that is posted has no \`exit\`. These two are
left out below. No field is ever absent: what is not known is null. Each document is also a JSON Schema in \`schemas/\` of the package.`;

const code = (text: string) => `\`${text}\``;
/** `quarantine-list` is of `quarantine list`. */
const callOf = (name: string) => calls[name] ?? code(name.replace('-', ' '));

function describe([name, node]: readonly [string, Node]): string {
  const { schema: _, exit: __, ...own } = node.properties ?? {};
  const lines = Object.entries(own).flatMap(([key, child]) => fields(key, child));
  return [`## ${name}`, `[JSON Schema](../schemas/${name}.json)`, lines.join('\n')].join('\n\n');
}

/** A line for a field, and for each below it. */
function fields(path: string, outer: Node): string[] {
  const { node, isNullable } = withoutNull(outer);
  const text = outer.description ?? node.description ?? '';
  const line = `- ${code(path)} ${typeOf(node)}${isNullable ? ' or null' : ''}. ${escaped(text)}`;
  return [line, ...below(path, node)];
}

function below(path: string, node: Node): string[] {
  if (node.items !== undefined) {
    const item = withoutNull(node.items).node;
    return below(`${path}[]`, item);
  }
  const variants = node.oneOf ?? node.anyOf;
  if (variants !== undefined) return variants.flatMap((variant) => below(path, variant));
  const entries = Object.entries(node.properties ?? {});
  return entries.flatMap(([key, child]) => {
    const told =
      child.const === undefined
        ? child
        : { ...child, description: node.description ?? child.description };
    return fields(`${path}.${key}`, told as Node);
  });
}

/** What a field is where it is not null. */
function withoutNull(node: Node): { readonly node: Node; readonly isNullable: boolean } {
  const others = node.anyOf?.filter(({ type }) => type !== 'null');
  const [only, ...more] = others ?? [];
  const isNullable = others !== undefined && others.length < (node.anyOf?.length ?? 0);
  if (!isNullable || only === undefined) return { node, isNullable: false };
  return { node: more.length === 0 ? only : { ...node, anyOf: others }, isNullable };
}

function typeOf(node: Node): string {
  if (node.const !== undefined) return code(String(node.const));
  if (node.enum !== undefined) return node.enum.map((one) => code(String(one))).join(', ');
  if (node.items !== undefined) return `array of ${typeOf(withoutNull(node.items).node)}`;
  if (node.oneOf !== undefined || node.anyOf !== undefined) return 'one of these';
  return node.type === undefined ? 'any JSON' : [node.type].flat().join(' or ');
}

/** Text as Markdown that shows it as it is. */
const escaped = (text: string): string => text.replaceAll(/[*_<[\]]/gu, String.raw`\$&`);
