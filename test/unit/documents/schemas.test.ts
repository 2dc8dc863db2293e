import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { documentsPage } from '../../../scripts/documents-page.ts';
import { documentSchemas } from '../../../src/documents/index.ts';
import { demandDocument } from '../../harness/documents.ts';

const folder = join(import.meta.dirname, '../../../schemas');
const schemas = documentSchemas();

test.each([...schemas])(
  'schemas/%s.json is the schema in code; vitest -u writes it',
  async (name, text) => {
    await expect(text).toMatchFileSnapshot(join(folder, `${name}.json`));
  },
);

test('there is a file for each document, and no other', () => {
  expect(readdirSync(folder).toSorted()).toEqual(
    [...schemas.keys()].map((name) => `${name}.json`).toSorted(),
  );
});

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

test.each([...schemas])('every field of %s has a description', (name, text) => {
  expect(undescribed(JSON.parse(text) as Node, name)).toEqual([]);
});

test('docs/json-documents.md tells of every document; npm run schema writes it', async () => {
  const file = join(import.meta.dirname, '../../../docs/json-documents.md');
  await expect(await documentsPage(schemas)).toMatchFileSnapshot(file);
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

test.each([...schemas])('no field of %s is ever absent', (name, text) => {
  expect(optional(JSON.parse(text) as Node, name)).toEqual([]);
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
