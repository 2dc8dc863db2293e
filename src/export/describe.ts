import { types } from 'pg';
import type { Column } from '../query/read.ts';
import { ExportError } from './failure.ts';
import type { ExportedColumn, ExportedRelation, Manifest } from './manifest.ts';
import { parquetType } from './parquet-type.ts';
import type { Format } from './partition.ts';
import type { Relation } from './relation.ts';

/** What the manifest says of a relation, or of a question by the columns of its answer. */
function told(
  source: Relation | { readonly name: string; readonly columns: readonly Column[] },
  format: Format,
): ExportedRelation {
  const storedAs = (oid: number) => (format === 'csv' ? 'text' : parquetType(oid).name);
  if (!('layout' in source)) {
    const columns = source.columns.map(({ name, type }) => ({
      name,
      type: typeNames.get(type) ?? 'text',
      stored_as: storedAs(type),
    }));
    return { name: source.name, kind: 'question', layout: 'whole', columns };
  }
  const { name, kind, layout } = source;
  const columns = source.columns.map((column): ExportedColumn => {
    const isInPath = format === 'parquet' && layout !== 'whole' && column.name === 'chain_id';
    return {
      name: column.name,
      type: column.type,
      stored_as: isInPath ? 'the path' : storedAs(column.oid),
    };
  });
  return { name, kind, layout, columns };
}

/** Names of types by oid, as Postgres has them inside, such as int8. */
const typeNames: ReadonlyMap<number, string> = new Map(
  Object.entries(types.builtins).map(([name, oid]): [number, string] => [oid, name.toLowerCase()]),
);

/** Has the manifest tell of a relation or question. */
export const describe = (manifest: Manifest, source: Parameters<typeof told>[0], format: Format) =>
  manifest.describe(told(source, format));

/**
 * Files of one relation have the same columns, or no reader takes them together.
 *
 * @throws ExportError where the folder has files of the relation with others
 */
export function demandSame(manifest: Manifest, relation: Relation, format: Format): void {
  const before = manifest.relation(relation.name);
  if (before === null || manifest.files(relation.name).length === 0) return;
  if (JSON.stringify(before) === JSON.stringify(told(relation, format))) return;
  throw new ExportError(
    `${relation.name} has other columns now than when this folder was written: export to a new folder.`,
  );
}
