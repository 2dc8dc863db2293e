import { Ajv2020 } from 'ajv/dist/2020.js';
import { documentSchemas } from '../../src/documents/index.ts';

const ajv = new Ajv2020({ strict: true, allErrors: true });
const schemas = documentSchemas();

/**
 * Holds what a command printed with `--json` against the schema that it names.
 *
 * @throws what is wrong with it, where it is no document or not as its schema says
 */
export function demandDocument(stdout: string, code: number): void {
  const document = JSON.parse(stdout) as { schema?: string; exit?: { code: number } };
  if (document.schema === undefined) return;
  const [, name = ''] = document.schema.split('/');
  const schema = schemas.get(name);
  if (schema === undefined) throw new Error(`no schema for ${document.schema}`);
  const validate = ajv.getSchema(name) ?? ajv.compile({ ...JSON.parse(schema), $id: name });
  if (validate(document) !== true) {
    throw new Error(`${document.schema}: ${ajv.errorsText(validate.errors)}\n${stdout}`);
  }
  if (document.exit?.code !== code) throw new Error(`${stdout}\nended with ${code}`);
}
