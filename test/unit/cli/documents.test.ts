import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { documents } from '../../../src/cli/documents.ts';
import * as failure from '../../../src/cli/failure.ts';
import { commands } from '../../../src/cli/program.ts';
import { planDocument } from '../../../src/status/plan.ts';
import { statusDocument } from '../../../src/status/schema.ts';
import { verifyDocument } from '../../../src/status/verify.ts';
import { demandDocument, schemas } from '../../harness/documents.ts';

interface Node {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
}

/** Every field below a schema that may be absent. */
function optional(node: Node, path: string): string[] {
  const inner = [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...[node.items ?? []].flat()];
  const required = new Set(node.required);
  return [
    ...inner.flatMap((child) => optional(child, path)),
    ...Object.entries(node.properties ?? {}).flatMap(([key, child]) => [
      ...(required.has(key) ? [] : [`${path}.${key}`]),
      ...optional(child, `${path}.${key}`),
    ]),
  ];
}

test('no field of a document is optional', () => {
  const absent = [...schemas].flatMap(([name, schema]) =>
    optional(z.toJSONSchema(schema, { unrepresentable: 'any' }) as Node, name),
  );
  expect(schemas.size).toBeGreaterThan(20);
  expect(absent).toEqual([]);
});

test('the documents in docs/json.md match their schemas', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/json.md'), 'utf8');
  const shown = [...page.matchAll(/^```json\n(.*?)^```$/gmsu)].map(([, text = '']) => text);
  expect(shown).toHaveLength(2);
  for (const stdout of shown) {
    const { exit } = JSON.parse(stdout) as { exit: { code: number } };
    demandDocument(['--json'], { code: exit.code, stdout });
  }
});

const nameOf = ({ shape }: z.ZodObject) =>
  (shape['schema'] as z.ZodLiteral<string>).value.split('/')[1] ?? '';

test('explorer-etl/documents has every document of a command, by its name', async () => {
  const modules = await Promise.all(commands.map(({ load }): Promise<object> => load()));
  const declared = [...modules, failure, { planDocument, statusDocument, verifyDocument }]
    .flatMap((module): unknown[] => Object.values(module))
    .filter((value) => value instanceof z.ZodObject);

  const published = Object.entries(documents).map(([name, schema]) => [name, nameOf(schema)]);
  expect(published).toEqual(published.map(([name]) => [name, name]));
  expect(new Set(Object.keys(documents))).toEqual(new Set(declared.map(nameOf)));
});

test('a document has how its command ended', () => {
  const document = {
    schema: 'explorer-etl/db-url/1',
    url: 'postgres://localhost/x',
    exit: { code: 0, reason: 'done' },
  };
  const { exit } = documents['db-url'].parse(document);
  expect(exit).toEqual({ code: 0, reason: 'done' });
  expect(documents['db-url'].safeParse({ ...document, exit: undefined }).success).toBe(false);
});
