import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getTableConfig } from 'drizzle-orm/pg-core';
import { expect, expectTypeOf, test } from 'vitest';
import * as schema from '../../../src/lists/schema.ts';

const migrations = globSync(join(import.meta.dirname, '../../../migrations/*.sql'));
const camelCase = (name: string) =>
  name.replaceAll(/_([a-z\d])/gu, (_all, letter: string) => letter.toUpperCase());

test('explorer-etl/schema has every table of schema explorer, by its name', () => {
  const created = migrations
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')
    .matchAll(/^CREATE TABLE "explorer"\."(\w+)"/gmu);
  const tables = Object.entries(schema).map(
    ([name, table]) => [name, getTableConfig(table).name] as const,
  );
  expect(new Map(tables)).toEqual(
    new Map([...created].map(([, name = '']) => [camelCase(name), name])),
  );
});

test('a row has the types of its columns', () => {
  type Operation = typeof schema.userOperations.$inferSelect;
  expectTypeOf<Operation['hash']>().toEqualTypeOf<string>();
  expectTypeOf<Operation['fee']>().toEqualTypeOf<string | null>();
  // Counts of a ranking have columns by name, too.
  type Factory = typeof schema.factories.$inferSelect;
  expectTypeOf<Factory['total_accounts']>().toEqualTypeOf<number | null>();
  // @ts-expect-error -- a column that the table does not have
  expectTypeOf<Factory['total_ops']>().toBeNever();
});
