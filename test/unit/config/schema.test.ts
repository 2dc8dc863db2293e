import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exampleConfig } from '../../../src/cli/init.ts';
import { configJsonSchema } from '../../../src/config/schema.ts';
import { load } from './folder.ts';

const root = join(import.meta.dirname, '../../..');

test('explorer-etl.schema.json is the schema of the code; vitest -u writes it', async () => {
  const file = join(root, 'explorer-etl.schema.json');
  await expect(configJsonSchema()).toMatchFileSnapshot(file);
});

test('the schema has the address of this version, in the form of SchemaStore', () => {
  const { version, files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
    files: readonly string[];
  };
  const schema = JSON.parse(configJsonSchema()) as Readonly<Record<string, unknown>>;
  expect(Object.keys(schema).slice(0, 4)).toEqual(['$schema', '$id', 'title', 'description']);
  expect(schema).toMatchObject({
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: `https://unpkg.com/explorer-etl@${version}/explorer-etl.schema.json`,
    additionalProperties: false,
  });
  expect(files).toContain('explorer-etl.schema.json');
});

interface Node {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
}

/** Every key below a schema, with whether it is described there or in its alternatives. */
function keys(node: Node, path = ''): [path: string, described: boolean][] {
  const inner = [...(node.anyOf ?? []), ...(node.items === undefined ? [] : [node.items])];
  return [
    ...inner.flatMap((child) => keys(child, path)),
    ...Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
      const described = [child, ...(child.anyOf ?? [])].some(
        (one) => one.description !== undefined,
      );
      return [[`${path}.${key}`, described] as [string, boolean], ...keys(child, `${path}.${key}`)];
    }),
  ];
}

test('every key has a description', () => {
  const all = keys(JSON.parse(configJsonSchema()) as Node);
  expect(all.length).toBeGreaterThan(20);
  expect(all.filter(([, described]) => !described)).toEqual([]);
});

describe('the example', () => {
  test.each([[[10]], [[10, 8453, 42161, 999]]])(
    'for %j is valid: the defaults, and no more credits than the free plan has',
    (ids) => {
      const fromFlags = load(null, { chains: ids.map(String) });
      const fromFile = load(exampleConfig(ids));
      const expected = fromFlags.chains.map((chain) => {
        if (chain.id !== 42161) return chain;
        const { 'optimism-batch-blocks': _, ...operations } = chain.operations;
        return { ...chain, operations };
      });
      expect(fromFile.chains).toEqual(expected);
      expect(fromFile.explorer).toEqual({ ...fromFlags.explorer, dailyCredits: 100_000 });
    },
  );

  test('has lists that are mirrored only if named as valid comments', () => {
    const chosen = exampleConfig([10], { lists: ['bundles'] });
    const commented = exampleConfig([10]).replaceAll(/^ {6}# (?=(?:  )*[\w-]+:)/gmu, '      ');
    for (const text of [chosen, commented]) {
      expect(load(text).chains[0]?.operations.bundles).toMatchObject({ overlapMs: 300_000 });
    }
  });

  test('for no chain is valid, and begins with the line that editors look for', () => {
    expect(load(exampleConfig([]), { need: 'database' }).chains).toEqual([]);
    const { $id } = JSON.parse(configJsonSchema()) as { $id: string };
    expect(exampleConfig([]).split('\n')[0]).toBe(`# yaml-language-server: $schema=${$id}`);
  });

  test('keeps its lines valid when the comments before keys are taken away', () => {
    const text = exampleConfig([10]).replaceAll(/# (since|to_batch):/gu, '$1:');
    const settings = load(text);
    expect(settings.chains[0]?.operations).toMatchObject({
      'user-operations': { since: '2024-01-01T00:00:00.000Z' },
      'optimism-batch-blocks': { toBatch: 100 },
    });
  });
});
