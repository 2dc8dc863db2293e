import { Ajv2020 } from 'ajv/dist/2020.js';
import { documentSchemas } from '../../src/documents/index.ts';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
const schemas = documentSchemas();

/** What a command left behind. */
interface Output {
  /** Null where it was killed: what it wrote is a document, or none. */
  readonly code: number | null;
  readonly stdout: string;
}

/**
 * Holds what a command printed against the schema that it names, if `--json` was among its arguments.
 *
 * @throws what is wrong with it, where it is no document or not as its schema says
 */
export function demandDocument(args: readonly string[], { code, stdout }: Output): void {
  const end = args.indexOf('--');
  if (!args.slice(0, end === -1 ? undefined : end).includes('--json')) return;
  if (stdout === '' && code === null) return;
  const document = parse(stdout) as { schema?: string; exit?: { code: number } };
  holdDocument(document);
  if (code !== null && document.exit?.code !== code) {
    throw new Error(`${stdout}\nended with ${code}`);
  }
}

/** Holds a document against the schema that it names. @throws what is wrong with it */
export function holdDocument(document: { readonly schema?: string }): void {
  const [, name = ''] = document.schema?.split('/') ?? [];
  const schema = schemas.get(name);
  if (schema === undefined) throw new Error(`no schema for ${JSON.stringify(document)}`);
  const validate = ajv.getSchema(name) ?? ajv.compile({ ...JSON.parse(schema), $id: name });
  if (validate(document) === true) return;
  throw new Error(
    `${document.schema}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(document, null, 2)}`,
  );
}

function parse(stdout: string): unknown {
  try {
    return JSON.parse(stdout);
  } catch (error) {
    throw new Error(`no document: ${stdout}`, { cause: error });
  }
}
