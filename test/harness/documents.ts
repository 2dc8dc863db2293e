import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { documents } from '../../src/cli/documents.ts';

/** Every document of `--json`, by its name. */
export const schemas: ReadonlyMap<string, z.ZodObject> = new Map(Object.entries(documents));

/**
 * Holds what a command printed against the schema that it names, if `--json` was among its arguments.
 *
 * @throws what is wrong with it, if it is no document or not as its schema says
 */
export function demandDocument(
  args: readonly string[],
  { code, stdout }: { readonly code: number | null; readonly stdout: string },
): void {
  const end = args.indexOf('--');
  if (!args.slice(0, end === -1 ? undefined : end).includes('--json')) return;
  // One that was killed wrote a document, or none.
  if (stdout === '' && code === null) return;
  const document = JSON.parse(stdout) as { schema?: string; exit?: { code: number } };
  const schema = schemas.get(document.schema?.split('/')[1] ?? '');
  if (schema === undefined) throw new Error(`no schema for ${stdout}`);
  const { data, error } = schema.safeParse(document);
  if (error !== undefined) throw new Error(`${z.prettifyError(error)}\n${stdout}`);
  // A field that the schema does not have is left out of what it returns.
  if (!isDeepStrictEqual(data, document)) throw new Error(`fields of no schema: ${stdout}`);
  if (code !== null && document.exit?.code !== code) {
    throw new Error(`${stdout}\nended with ${code}`);
  }
}
