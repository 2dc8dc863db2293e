import { types, type Pool } from 'pg';
import { parse } from 'postgres-array';

const {
  BOOL,
  INT2,
  INT4,
  INT8,
  OID,
  FLOAT4,
  FLOAT8,
  JSON: json,
  JSONB,
  TIMESTAMP,
  TIMESTAMPTZ,
} = types.builtins;

const bool: number = BOOL;
const integers: ReadonlySet<number> = new Set([INT2, INT4, INT8, OID]);
const floats: ReadonlySet<number> = new Set([FLOAT4, FLOAT8]);
const documents: ReadonlySet<number> = new Set([json, JSONB]);
const times: ReadonlySet<number> = new Set([TIMESTAMP, TIMESTAMPTZ]);
const numbers: ReadonlySet<number> = new Set([...integers, ...floats, types.builtins.NUMERIC]);

/** The only ones that mean something when they are cut. */
const texts: ReadonlySet<number> = new Set([
  types.builtins.TEXT,
  types.builtins.VARCHAR,
  json,
  JSONB,
]);

/** Types of arrays and of their elements, by oid (pg_type.dat of Postgres). Others stay text. */
const elementTypes: ReadonlyMap<number, number> = new Map([
  [199, json],
  [1000, BOOL],
  [1005, INT2],
  [1007, INT4],
  [1009, types.builtins.TEXT],
  [1015, types.builtins.VARCHAR],
  [1016, INT8],
  [1021, FLOAT4],
  [1022, FLOAT8],
  [1115, TIMESTAMP],
  [1182, types.builtins.DATE],
  [1185, TIMESTAMPTZ],
  [1231, types.builtins.NUMERIC],
  [3807, JSONB],
]);

/** Whether people compare values of the type by their last digit. */
export const isNumber = (type: number): boolean => numbers.has(type);

/** Whether a value of the type still reports something when it is shortened. */
export const isText = (type: number): boolean => texts.has(type) || elementTypes.has(type);

/** Whether a value of the type is an array that `jsonText` reads. */
export const isArray = (type: number): boolean => elementTypes.has(type);

/**
 * A value of Postgres as JSON. Integers that a double holds are numbers, larger ones and `numeric` text, so that
 * every reader gets all digits; times are ISO 8601; json is what it is.
 *
 * @param value as Postgres writes it
 * @param type its oid
 */
export function jsonText(value: string | null, type: number): string {
  if (value === null) return 'null';
  if (type === bool) return value === 't' ? 'true' : 'false';
  if (integers.has(type) && Number.isSafeInteger(Number(value))) return value;
  // Not NaN, nor an infinity.
  if (floats.has(type) && /^-?\d/u.test(value)) return value;
  // They stand between tokens only, and mean as much as a blank.
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

/** A value as text for other programs: as Postgres writes it, but times are ISO 8601. */
export const plainText = (value: string, type: number): string =>
  times.has(type)
    ? value.replace(/^(\d{4}-\d\d-\d\d) ([\d:.]+)(\+00)?$/u, (_all, day, time, zone) =>
        [day, 'T', time, zone === undefined ? '' : 'Z'].join(''),
      )
    : value;

/**
 * What Postgres calls types, such as `bigint` or `timestamp with time zone`, by oid. An answer reports oids only,
 * and the connection that reads it is busy, so another one is asked.
 */
export async function readTypeNames(
  pool: Pick<Pool, 'query'>,
  oids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const { rows } = await pool.query<{ type: string; name: string }>(
    `select type::text, format_type(type, null) as name from unnest($1::oid[]) as type`,
    [[...new Set(oids)]],
  );
  return new Map(rows.map(({ type, name }) => [Number(type), name]));
}
