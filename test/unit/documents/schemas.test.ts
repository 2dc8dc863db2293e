import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { documents } from '../../../src/documents/index.ts';
import { demandDocument } from '../../harness/documents.ts';

const schemas = Object.entries(documents).map(
  ([name, document]) => [name, z.toJSONSchema(document) as Node] as const,
);

interface Node {
  readonly required?: readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
}

/** Every field below a schema that has no description. */
function undescribed(node: Node, path: string): string[] {
  const inner = [
    ...(node.anyOf ?? []),
    ...(node.oneOf ?? []),
    ...(node.items === undefined ? [] : [node.items]),
  ];
  return [
    ...inner.flatMap((child) => undescribed(child, path)),
    ...Object.entries(node.properties ?? {}).flatMap(([key, child]) => [
      ...(child.description === undefined ? [`${path}.${key}`] : []),
      ...undescribed(child, `${path}.${key}`),
    ]),
  ];
}

test.each(schemas)('every field of %s has a description', (name, schema) => {
  expect(undescribed(schema, name)).toEqual([]);
});

/** Every field below a schema that may be absent. */
function optional(node: Node, path: string): string[] {
  const inner = [
    ...(node.anyOf ?? []),
    ...(node.oneOf ?? []),
    ...(node.items === undefined ? [] : [node.items]),
  ];
  const required = new Set(node.required);
  return [
    ...inner.flatMap((child) => optional(child, path)),
    ...Object.entries(node.properties ?? {}).flatMap(([key, child]) => [
      ...(required.has(key) ? [] : [`${path}.${key}`]),
      ...optional(child, `${path}.${key}`),
    ]),
  ];
}

test.each(schemas)('no field of %s is ever absent', (name, schema) => {
  expect(optional(schema, name)).toEqual([]);
});

test('the documents that docs/json.md shows are as their schemas say', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/json.md'), 'utf8');
  const shown = [...page.matchAll(/^```json\n(.*?)^```$/gmsu)].map(([, text = '']) => text);
  expect(shown).toHaveLength(2);
  for (const stdout of shown) {
    const { exit } = JSON.parse(stdout) as { exit: { code: number } };
    demandDocument(['--json'], { code: exit.code, stdout });
  }
});
