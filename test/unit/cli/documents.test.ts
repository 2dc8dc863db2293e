import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
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
