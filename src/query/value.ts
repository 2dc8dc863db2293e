import { stringify } from 'csv-stringify/sync';
import { types, type Pool } from 'pg';
import { parse } from 'postgres-array';
import type { Column, TextRow } from './read.ts';
import { z } from 'zod';
import { rowsOf } from '../db/transaction.ts';

const is = types.builtins;
const setOf = (...oids: number[]): ReadonlySet<number> => new Set(oids);
const bools = setOf(is.BOOL);
const integers = setOf(is.INT2, is.INT4, is.INT8, is.OID);
const floats = setOf(is.FLOAT4, is.FLOAT8);
const documents = setOf(is.JSON, is.JSONB);
const times = setOf(is.TIMESTAMP, is.TIMESTAMPTZ);
const numbers = setOf(...integers, ...floats, is.NUMERIC);
/** Only these types keep a meaning when they are cut. */
const texts = setOf(is.TEXT, is.VARCHAR, ...documents);

/** Array types and their elements, by oid (pg_type.dat of Postgres). Others stay text. */
const elementTypes: ReadonlyMap<number, number> = new Map([
  [199, is.JSON],
  [1000, is.BOOL],
  [1005, is.INT2],
  [1007, is.INT4],
  [1009, is.TEXT],
  [1015, is.VARCHAR],
  [1016, is.INT8],
  [1021, is.FLOAT4],
  [1022, is.FLOAT8],
  [1115, is.TIMESTAMP],
  [1182, is.DATE],
  [1185, is.TIMESTAMPTZ],
  [1231, is.NUMERIC],
  [3807, is.JSONB],
]);

/** Whether people compare values of the type by their last digit. */
export const isNumber = (type: number): boolean => numbers.has(type);

/** Whether a shortened value of the type still has a meaning. */
export const isText = (type: number): boolean => texts.has(type) || elementTypes.has(type);

/** Whether the type is an array that `jsonText` reads. */
export const isArray = (type: number): boolean => elementTypes.has(type);

/**
 * A value of Postgres as JSON, by its type's oid. Integers above 2^53 and `numeric` are text, so that readers get all
 * digits; times are ISO 8601; json is nested.
 */
export function jsonText(value: string | null, type: number): string {
  if (value === null) return 'null';
  if (bools.has(type)) return value === 't' ? 'true' : 'false';
  if (integers.has(type) && Number.isSafeInteger(Number(value))) return value;
  // NaN and infinities are not JSON numbers.
  if (floats.has(type) && /^-?\d/u.test(value)) return value;
  // Between tokens, they mean the same as a blank.
  if (documents.has(type)) return value.replaceAll(/[\t\n\r]/gu, ' ');
  const element = elementTypes.get(type);
  if (element !== undefined) return jsonArray(parse(value), element);
  return JSON.stringify(plainText(value, type));
}

type Nested = readonly (string | null | Nested)[];

const jsonArray = (values: Nested, element: number): string =>
  `[${values
    .map((value) =>
      typeof value === 'string' || value === null
        ? jsonText(value, element)
        : jsonArray(value, element),
    )
    .join(',')}]`;

/** A value as text for programs: as Postgres writes it, with times as ISO 8601. */
const plainText = (value: string, type: number): string =>
  times.has(type)
    ? value.replace(/^(\d{4}-\d\d-\d\d) ([\d:.]+)(\+00)?$/u, (_all, day, time, zone) =>
        [day, 'T', time, zone === undefined ? '' : 'Z'].join(''),
      )
    : value;

const written = /^(\d{4}-\d\d-\d\d)(?: ([\d:]{8})(?:\.(\d+))?(?:\+00)?)?$/u;

/** Days since 1970-01-01; null: the day is not in the years 1 to 9999. */
export const dayNumber = (day: string): number | null =>
  written.test(day) ? Date.parse(day) / 86_400_000 : null;

/** Microseconds of a UTC time since 1970; null as for `dayNumber`. */
export function microseconds(text: string): bigint | null {
  const [, day, time, fraction = ''] = written.exec(text) ?? [];
  if (day === undefined) return null;
  return BigInt(Date.parse(`${day}T${time}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0'));
}

/** Names of types, such as `bigint`, by oid; needs another connection than a running answer. */
export async function readTypeNames(
  pool: Pick<Pool, 'query'>,
  oids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await rowsOf(
    pool,
    () => z.object({ type: z.string(), name: z.string() }),
    `select type::text, format_type(type, null) as name from unnest($1::oid[]) as type`,
    [[...new Set(oids)]],
  );
  return new Map(rows.map(({ type, name }) => [Number(type), name]));
}

/** CSV with values as they are, or for a spreadsheet, which would run some texts. */
export type CsvFormat = 'csv' | 'spreadsheet';

/** Where a spreadsheet looks for a formula (OWASP: CSV injection), also one that takes ; or tabs for separators. */
const formulaStart = /(?<=^|[;\t\r\n])(?=[=+\-@\t\r\n＝＋－＠])/gu;

/** An apostrophe makes a text of what follows. A number may have its sign. */
function csvCell(value: string, type: number, format: CsvFormat): string {
  const text = plainText(value, type);
  return format === 'csv' || isNumber(type) ? text : text.replaceAll(formulaStart, "'");
}

export const csvHead = (columns: readonly Column[], format: CsvFormat): string =>
  serialize([columns.map(({ name }) => csvCell(name, is.TEXT, format))]);

/** Rows by RFC 4180, with Unix line ends; as in Postgres, null is nothing, an empty text "". */
export const csvLines = (columns: readonly Column[], rows: readonly TextRow[], format: CsvFormat) =>
  serialize(
    rows.map((row) =>
      row.map((value, at) => value && csvCell(value, columns[at]?.type ?? is.TEXT, format)),
    ),
  );

const serialize = (records: readonly TextRow[]): string =>
  stringify(
    records.map((record) => [...record]),
    { quoted_match: /^$|\r/u },
  );
