import { z } from 'zod';
import { initDocument } from './init.ts';
import { verifyDocument } from './verify.ts';

/** Every document of `--json`, by the name of its file in schemas/. */
export const documents = { init: initDocument, verify: verifyDocument } as const satisfies Readonly<
  Record<string, z.ZodType>
>;

/** Any of them. */
export type Document = z.infer<(typeof documents)[keyof typeof documents]>;

/** Their JSON Schemas, as the texts of the files in schemas/, by name. */
export const documentSchemas = (): ReadonlyMap<string, string> =>
  new Map(
    Object.entries<z.ZodType>(documents).map(([name, document]) => [
      name,
      `${JSON.stringify({ title: `explorer-etl ${name} --json`, ...z.toJSONSchema(document) }, null, 2)}\n`,
    ]),
  );
