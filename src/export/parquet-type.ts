import type { SchemaElement } from 'hyparquet-writer';
import { types } from 'pg';
import { isArray, jsonText } from '../query/value.ts';
import { ExportError } from './failure.ts';
import { dayNumber, microseconds } from './instant.ts';

const { BOOL, INT2, INT4, INT8, OID, FLOAT4, FLOAT8, DATE, TIMESTAMP, TIMESTAMPTZ } =
  types.builtins;

/** What the library takes as a value. */
export type ParquetValue = boolean | number | bigint | string | null;

/** How a type of Postgres is kept in a Parquet file. */
export interface ParquetType {
  /** For people. */
  readonly name: string;
  readonly element: Omit<SchemaElement, 'name'>;
  /** @returns null where the type of the file has no such value */
  readonly valueOf: (text: string) => ParquetValue;
}

const text: ParquetType = {
  name: 'STRING',
  element: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  valueOf: (value) => value,
};
const small: ParquetType = { name: 'INT32', element: { type: 'INT32' }, valueOf: Number };
const large: ParquetType = { name: 'INT64', element: { type: 'INT64' }, valueOf: BigInt };
const time = (isAdjustedToUTC: boolean): ParquetType => ({
  name: isAdjustedToUTC ? 'TIMESTAMP(MICROS, UTC)' : 'TIMESTAMP(MICROS)',
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
  [BOOL, { name: 'BOOLEAN', element: { type: 'BOOLEAN' }, valueOf: (value) => value === 't' }],
  [INT2, small],
  [INT4, small],
  [INT8, large],
  [OID, large],
  [FLOAT4, { name: 'FLOAT', element: { type: 'FLOAT' }, valueOf: Number }],
  [FLOAT8, { name: 'DOUBLE', element: { type: 'DOUBLE' }, valueOf: Number }],
  [
    DATE,
    {
      name: 'DATE',
      element: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
      valueOf: dayNumber,
    },
  ],
  [TIMESTAMP, time(false)],
  [TIMESTAMPTZ, time(true)],
]);

/** How values of a type, by its oid, are kept. Arrays are JSON, as text. */
export function parquetType(oid: number): ParquetType {
  const known = byType.get(oid);
  if (known !== undefined) return known;
  return isArray(oid) ? { ...text, valueOf: (value) => jsonText(value, oid) } : text;
}

/**
 * A value of Postgres as one of the file.
 *
 * @throws ExportError where the type of the file has none such: infinity is a time to Postgres only
 */
export function parquetValue(
  type: ParquetType,
  value: string | null,
  column: string,
): ParquetValue {
  if (value === null) return null;
  const converted = type.valueOf(value);
  if (converted !== null) return converted;
  throw new ExportError(
    `column ${column} holds ${value}, which Parquet's ${type.name} does not: --format csv takes it.`,
  );
}
