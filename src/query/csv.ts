import { stringify } from 'csv-stringify/sync';
import type { Column, Row } from './read.ts';
import { plainText } from './value.ts';

export const csvHead = (columns: readonly Column[]): string =>
  serialize([columns.map(({ name }) => name)]);

/** Rows by RFC 4180, with Unix line ends; as in Postgres, null is nothing, an empty text "". */
export const csvLines = (columns: readonly Column[], rows: readonly Row[]): string =>
  serialize(
    rows.map((row) =>
      row.map((value, at) => (value === null ? null : plainText(value, columns[at]?.type ?? 0))),
    ),
  );

const serialize = (records: readonly Row[]): string =>
  stringify(
    records.map((record) => [...record]),
    { quoted_match: /^$|\r/u },
  );
