import { getTableConfig } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import { tableName } from '../../src/db/column-types.ts';
import { isEnforced } from '../../src/db/layout.ts';
import { dataTables, operationNames, operations } from '../../src/lists/registry.ts';
import { freshDatabase } from '../harness/database.ts';

/** Tables of schema `explorer`, with the columns that an enforced key binds, as those of child rows to their item. */
const tables = dataTables.map((table) => {
  const { columns, foreignKeys } = getTableConfig(table);
  const bound = foreignKeys.flatMap((key) => key.reference().columns.map(({ name }) => name));
  return { name: tableName(table), columns: columns.map((column) => column.name), bound };
});

interface Reference {
  readonly table: string;
  /** Beside `chain_id`. */
  readonly column?: string;
}

/** Expects these references to a table, and no others, among the foreign keys that tools see. */
async function expectReferences(to: Reference, from: readonly Reference[]): Promise<void> {
  const { query } = await freshDatabase();
  const [server] = await query(`select current_setting('server_version_num')::int as version`);
  const rows = await query(
    `select format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) as key
     from pg_constraint where contype = 'f' and not ${isEnforced} and confrelid = $1::regclass`,
    [to.table],
  );
  const columns = ({ column }: Reference) => ['chain_id', column ?? []].flat().join(', ');
  const keys = from.map(
    (one) =>
      `${one.table} FOREIGN KEY (${columns(one)}) REFERENCES ${to.table}(${columns(to)}) NOT ENFORCED`,
  );
  // Postgres can leave keys unenforced since version 18.
  const expected = server?.version < 180_000 ? [] : keys;
  expect(new Set(rows.map(({ key }) => key))).toEqual(new Set(expected));
}

test('every table without a parent refers to its chain', async () => {
  const own = tables.filter(({ bound }) => bound.length === 0);
  await expectReferences(
    { table: 'explorer.chains' },
    own.map(({ name }) => ({ table: name })),
  );
});

test('every address of an item or of its child rows refers to explorer.addresses', async () => {
  const embedded = new Map(
    operationNames.map((name) => [
      tableName(operations[name].table),
      operations[name].addressColumns,
    ]),
  );
  const columns = tables.flatMap(({ name, columns: all, bound }) =>
    all
      .filter((column) => column === 'address_hash' || embedded.get(name)?.includes(column))
      .filter((column) => !bound.includes(column))
      .map((column) => ({ table: name, column })),
  );
  await expectReferences({ table: 'explorer.addresses', column: 'hash' }, columns);
});

test('every number of a batch refers to the batch as its blocks show it', async () => {
  for (const list of Object.values(operations)) {
    if (list.kind !== 'numbered') continue;
    const { states, number, listed } = list.batches;
    const other = Object.values(operations).find(({ name }) => name === listed?.operation);
    await expectReferences({ table: tableName(states), column: 'batch_number' }, [
      { table: tableName(list.table), column: number },
      ...(other?.order
        ? [{ table: tableName(other.table), column: other.order.columns.height }]
        : []),
    ]);
  }
});
