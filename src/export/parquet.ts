import { zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { types } from 'pg';
import type { Answer } from '../query/read.ts';
import { isArray, jsonText } from '../query/value.ts';
import { ExportError } from './failure.ts';

/** Takes a file's bytes, in order. They are its own to keep once it resolves, and not before. */
export type Sink = (bytes: Uint8Array) => Promise<void>;

/** An answer on its way into a file. */
export interface FileWriter extends Answer {
  /** Writes what is left. */
  end(): Promise<void>;
}

/** What the library takes as a value. */
type ParquetValue = boolean | number | bigint | string | null;

/** How a type of Postgres is kept in a Parquet file. */
interface ParquetType {
  readonly element: Omit<SchemaElement, 'name'>;
  /** @returns null where the type of the file has no such value */
  readonly valueOf: (text: string) => ParquetValue;
}

const { BOOL, INT2, INT4, INT8, OID, FLOAT4, FLOAT8, DATE, TIMESTAMP, TIMESTAMPTZ } =
  types.builtins;

const text: ParquetType = {
  element: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  valueOf: (value) => value,
};
const time = (isAdjustedToUTC: boolean): ParquetType => ({
  element: {
    type: 'INT64',
    // Readers that know no logical types take this one for UTC.
    ...(isAdjustedToUTC && { converted_type: 'TIMESTAMP_MICROS' }),
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MICROS' },
  },
  valueOf: microseconds,
});

/** By oid. All others are text as Postgres writes it: no digit of a numeric is lost, and none is made up. */
const byType: ReadonlyMap<number, ParquetType> = new Map<number, ParquetType>([
  [BOOL, { element: { type: 'BOOLEAN' }, valueOf: (value) => value === 't' }],
  [INT2, { element: { type: 'INT32' }, valueOf: Number }],
  [INT4, { element: { type: 'INT32' }, valueOf: Number }],
  [INT8, { element: { type: 'INT64' }, valueOf: BigInt }],
  [OID, { element: { type: 'INT64' }, valueOf: BigInt }],
  [FLOAT4, { element: { type: 'FLOAT' }, valueOf: Number }],
  [FLOAT8, { element: { type: 'DOUBLE' }, valueOf: Number }],
  [
    DATE,
    {
      element: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
      valueOf: dayNumber,
    },
  ],
  [TIMESTAMP, time(false)],
  [TIMESTAMPTZ, time(true)],
]);

/** How values of a type, by its oid, are kept. Arrays are JSON, as text. */
const parquetType = (oid: number): ParquetType =>
  byType.get(oid) ?? (isArray(oid) ? { ...text, valueOf: (value) => jsonText(value, oid) } : text);

const written =
  /^(?<year>\d{4,6})-(?<date>\d\d-\d\d)[ T](?<time>\d\d:\d\d:\d\d)(?:\.(?<fraction>\d{1,6}))?(?:\+00|Z)?$/u;

/**
 * Microseconds since 1970 of a time as Postgres writes it in UTC, or in ISO 8601.
 *
 * @returns null of what no clock shows: an infinity, a year before the first
 */
export function microseconds(value: string): bigint | null {
  const groups = written.exec(value)?.groups;
  if (groups === undefined) return null;
  const { year = '', date = '', time: ofDay = '', fraction = '' } = groups;
  // Years of more than four digits have a sign and six.
  const isoYear = year.length === 4 ? year : `+${year.padStart(6, '0')}`;
  const ms = Date.parse(`${isoYear}-${date}T${ofDay}Z`);
  return Number.isNaN(ms) ? null : BigInt(ms) * 1000n + BigInt(fraction.padEnd(6, '0'));
}

/** Days since 1970 of a date as Postgres writes it; null of what no calendar shows. */
export function dayNumber(value: string): number | null {
  const micros = microseconds(`${value} 00:00:00`);
  return micros === null ? null : Number(micros / 1000n) / 86_400_000;
}

/**
 * A group is made in memory. Readers like larger ones better, and 50,000 rows took 491 MB where these took 416 MB
 * (docs/decisions/0014-surfaces.md).
 */
const groupRows = 20_000;
/** Rows may be long: a group is written earlier where they hold so many characters. */
const groupCharacters = 16 * 1024 * 1024;

interface Filled extends ParquetType {
  readonly name: string;
  data: ParquetValue[];
}

/** Writes an answer as Parquet, a group of rows after the other. */
export function parquetWriter(sink: Sink): FileWriter {
  let columns: readonly Filled[] = [];
  let file: ParquetWriter | null = null;
  let [rowsInGroup, charactersInGroup] = [0, 0];
  const flush = async () => {
    if (rowsInGroup === 0) return;
    const columnData = columns.map(({ name, data }) => ({ name, data }));
    await file?.write({ columnData, rowGroupSize: rowsInGroup });
    for (const column of columns) column.data = [];
    [rowsInGroup, charactersInGroup] = [0, 0];
  };
  return {
    begin(all) {
      columns = all.map(({ name, type }) => ({ name, ...parquetType(type), data: [] }));
      file = openFile(columns, sink);
    },
    async rows(rows) {
      for (const row of rows) {
        for (const [at, column] of columns.entries()) {
          const value = row[at] ?? null;
          column.data.push(valueOf(column, value));
          charactersInGroup += value?.length ?? 0;
        }
        rowsInGroup += 1;
        if (rowsInGroup >= groupRows || charactersInGroup >= groupCharacters) await flush();
      }
    },
    async end() {
      await flush();
      await file?.finish();
    },
  };
}

/** @throws ExportError where the type of the file has no such value: infinity is a time to Postgres only */
function valueOf({ name, valueOf: convert }: Filled, value: string | null): ParquetValue {
  if (value === null) return null;
  const converted = convert(value);
  if (converted !== null) return converted;
  throw new ExportError(
    `column ${name} holds ${value}, which Parquet has no value for: --format csv takes it.`,
  );
}

function openFile(columns: readonly Filled[], sink: Sink): ParquetWriter {
  const writer = new ByteWriter();
  const pass = async () => {
    await sink(writer.getBytes());
    writer.index = 0;
  };
  const fields = columns.map(({ name, element }): SchemaElement => ({
    name,
    ...element,
    repetition_type: 'OPTIONAL',
  }));
  return new ParquetWriter({
    writer: Object.assign(writer, { flush: pass, finish: pass }),
    schema: [{ name: 'root', num_children: columns.length }, ...fields],
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
  });
}
