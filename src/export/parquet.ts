import { zstdCompressSync } from 'node:zlib';
import { fileWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { types } from 'pg';
import { errorOf } from '../failure.ts';
import type { Column, TextRow } from '../query/read.ts';
import { dayNumber, isArray, jsonText, microseconds } from '../query/value.ts';

/** The export's target or format is impossible. The message says what to do. */
export class ExportError extends errorOf('export') {}

/** A Parquet type, and its value for a text of Postgres; null: it has none. */
type Storage = readonly [
  element: Omit<SchemaElement, 'name'>,
  store: (text: string) => boolean | number | bigint | string | null,
];

const timestamp = (isAdjustedToUTC: boolean): Storage => [
  { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MICROS' } },
  microseconds,
];

const is = types.builtins;
const numeric: number = is.NUMERIC;
const bytes16 = { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16 } as const;
/** Null: it has a fraction, or more digits. */
const decimal: Storage = [
  { ...bytes16, converted_type: 'DECIMAL', precision: 38, scale: 0 },
  (text) => (/^-?\d{1,38}$/u.test(text) ? BigInt(text) : null),
];
const exact: Storage = [{ type: 'BYTE_ARRAY', converted_type: 'UTF8' }, String];
const double: Storage = [{ type: 'DOUBLE' }, Number];
const storages: ReadonlyMap<number, Storage> = new Map<number, Storage>([
  [is.BOOL, [{ type: 'BOOLEAN' }, (text) => text === 't']],
  [is.INT2, [{ type: 'INT32' }, Number]],
  [is.INT4, [{ type: 'INT32' }, Number]],
  [is.INT8, [{ type: 'INT64' }, BigInt]],
  [is.FLOAT4, [{ type: 'FLOAT' }, Number]],
  [is.FLOAT8, double],
  [is.DATE, [{ type: 'INT32', converted_type: 'DATE' }, dayNumber]],
  [is.TIMESTAMP, timestamp(false)],
  [is.TIMESTAMPTZ, timestamp(true)],
]);

/** Other types have all digits, as Postgres writes them; arrays are JSON. */
const storageOf = (type: number): Storage =>
  storages.get(type) ?? (isArray(type) ? [exact[0], (text) => jsonText(text, type)] : exact);

/** Pieces of an answer in a row group, each of at most 1,000 rows and a million characters. */
const groupPieces = 16;

/**
 * The columns of a column, by its declared type, never by its values: files of all days have one schema. Of `numeric`
 * there are always three; a sum or an average may have a fraction, so its double comes first. Currencies have fractions.
 */
function storagesOf({ name, type, isWhole }: Column): (readonly [suffix: string, Storage])[] {
  if (type !== numeric) return [['', storageOf(type)]];
  if (name.endsWith('_native')) return Object.entries({ '': double, _text: exact });
  if (isWhole) return Object.entries({ '': decimal, _double: double, _text: exact });
  return Object.entries({ '': double, _decimal: decimal, _text: exact });
}

/** Opens a file for rows of these columns. @throws ExportError for a time that Parquet has no value for */
export function parquetFile(path: string, all: readonly Column[]) {
  const columns = all.flatMap((column, at) =>
    storagesOf(column).map(([suffix, [element, store]]) => {
      const name = `${column.name}${suffix}`;
      const valueOf = (row: TextRow) => {
        const text = row[at] ?? null;
        const value = text === null ? null : store(text);
        if (value !== null || text === null || column.type === numeric) return value;
        throw new ExportError(
          `column ${name} holds ${text}, which Parquet has no value for: --format csv takes it.`,
        );
      };
      return { name, element: { ...element, name, repetition_type: 'OPTIONAL' } as const, valueOf };
    }),
  );
  const elements = columns.map(({ element }) => element);
  const schema = [{ name: 'root', num_children: elements.length }, ...elements];
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes) };
  const file = new ParquetWriter({ writer: fileWriter(path), schema, codec: 'ZSTD', compressors });
  const pieces: (readonly TextRow[])[] = [];
  const flush = async () => {
    const rows = pieces.splice(0).flat();
    const columnData = columns.map(({ name, valueOf }) => ({ name, data: rows.map(valueOf) }));
    await file.write({ columnData, rowGroupSize: Math.max(1, rows.length) });
  };
  return {
    async write(rows: readonly TextRow[]) {
      if (pieces.push(rows) === groupPieces) await flush();
    },
    async end() {
      await flush();
      await file.finish();
    },
  };
}
