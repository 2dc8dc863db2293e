import { zstdCompressSync } from 'node:zlib';
import { fileWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { types } from 'pg';
import type { Column, Row } from '../query/read.ts';
import { isArray, jsonText } from '../query/value.ts';
import { ExportError } from './failure.ts';

/** Writes rows to a file; `end` writes the rest. */
export interface FileWriter {
  write(rows: readonly Row[]): Promise<void>;
  end(): Promise<void>;
}

type ParquetValue = boolean | number | bigint | string;

/** Null: the Parquet type has no such value. */
type Convert = (text: string) => ParquetValue | null;
type ParquetType = readonly [element: Omit<SchemaElement, 'name'>, convert: Convert];

const { BOOL, INT2, INT4, INT8, OID, FLOAT4, FLOAT8, DATE, TIMESTAMP, TIMESTAMPTZ } =
  types.builtins;

const text = {
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
} as const;
const date = { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } } as const;
const time = (isAdjustedToUTC: boolean): ParquetType[0] => ({
  type: 'INT64',
  // Readers without logical types read this one as UTC.
  ...(isAdjustedToUTC && { converted_type: 'TIMESTAMP_MICROS' }),
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MICROS' },
});

/** By oid. Arrays are JSON; other types are text with all digits, as Postgres writes them. */
const byType: ReadonlyMap<number, ParquetType> = new Map<number, ParquetType>([
  [BOOL, [{ type: 'BOOLEAN' }, (value) => value === 't']],
  [INT2, [{ type: 'INT32' }, Number]],
  [INT4, [{ type: 'INT32' }, Number]],
  [INT8, [{ type: 'INT64' }, BigInt]],
  [OID, [{ type: 'INT64' }, BigInt]],
  [FLOAT4, [{ type: 'FLOAT' }, Number]],
  [FLOAT8, [{ type: 'DOUBLE' }, Number]],
  [DATE, [date, dayNumber]],
  [TIMESTAMP, [time(false), microseconds]],
  [TIMESTAMPTZ, [time(true), microseconds]],
]);

const written =
  /^(?<year>\d{4,6})-(?<date>\d\d-\d\d)[ T](?<time>[\d:]{8})(?:\.(?<fraction>\d{1,6}))?(?:\+00|Z)?$/u;

/** Microseconds since 1970 of a UTC time of Postgres; null: an infinity or a year before 1. */
export function microseconds(value: string): bigint | null {
  const { year = '', date: day, time: ofDay, fraction = '' } = written.exec(value)?.groups ?? {};
  // ISO 8601 writes years of more than four digits with a sign and six digits.
  const isoYear = year.length > 4 ? `+${year.padStart(6, '0')}` : year;
  const ms = Date.parse(`${isoYear}-${day}T${ofDay}Z`);
  return Number.isNaN(ms) ? null : BigInt(ms) * 1000n + BigInt(fraction.padEnd(6, '0'));
}

/** Days since 1970. */
export function dayNumber(value: string): number | null {
  const sinceEpoch = microseconds(`${value} 00:00:00`);
  return sinceEpoch === null ? null : Number(sinceEpoch / 86_400_000_000n);
}

/** Row group in memory, in characters: 20,000 user operations; and the overhead of a value. */
const groupCharacters = 16 * 1024 * 1024;
const valueCharacters = 16;

export function parquetFile(path: string, all: readonly Column[]): FileWriter {
  const schema: SchemaElement[] = [{ name: 'root', num_children: all.length }];
  const columns = all.map(({ name, type }) => {
    const asText: Convert = isArray(type) ? (value) => jsonText(value, type) : (value) => value;
    const [element, convert] = byType.get(type) ?? [text, asText];
    schema.push({ name, ...element, repetition_type: 'OPTIONAL' });
    return { name, convert, data: [] as (ParquetValue | null)[] };
  });
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes) };
  const file = new ParquetWriter({ writer: fileWriter(path), schema, codec: 'ZSTD', compressors });
  let inGroup = 0;
  const flush = async () => {
    const columnData = columns.map(({ name, data }) => ({ name, data: data.splice(0) }));
    await file.write({ columnData, rowGroupSize: columnData[0]?.data.length ?? 1 });
    inGroup = 0;
  };
  return {
    async write(rows) {
      for (const row of rows) {
        for (const [at, { name, convert, data }] of columns.entries()) {
          const value = row[at] ?? null;
          data.push(value === null ? null : (convert(value) ?? refuse(name, value)));
          inGroup += valueCharacters + (value?.length ?? 0);
        }
        if (inGroup >= groupCharacters) await flush();
      }
    },
    async end() {
      await flush();
      await file.finish();
    },
  };
}

function refuse(column: string, value: string): never {
  throw new ExportError(
    `column ${column} holds ${value}, which Parquet has no value for: --format csv takes it.`,
  );
}
